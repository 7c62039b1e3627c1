const deltas = new Set(['text-delta', 'reasoning-delta', 'tool-input-delta'])

/** A streamed item. */
interface Streamed {
  readonly type: string
}
/** A delta of text, reasoning or tool input. */
interface Piece extends Streamed {
  delta: string
}
/** A chunk of a sub-agent. */
interface Relayed extends Streamed {
  readonly turnId: string
  readonly stepIndex: number
  readonly chunk: Piece
}

/** The types of events that may continue the event before them. */
export const joinable: ReadonlySet<string> = new Set([...deltas, 'model:chunk'])

/** Whether a delta of text, reasoning or tool input continues the event before it. */
export function continues<E extends Streamed>(
  before: E | undefined,
  event: E,
): before is Extract<E, { delta: string } | { type: 'model:chunk' }> {
  if (before?.type !== event.type) return false
  if (!isRelayed(event)) return isPiece(event) && sameBlock(before, event)
  const last = before as unknown as Relayed
  if (last.turnId !== event.turnId || last.stepIndex !== event.stepIndex) return false
  return isPiece(event.chunk) && last.chunk.type === event.chunk.type && sameBlock(last.chunk, event.chunk)
}

/** Returns a copy that `add` may change. */
export function ownCopy<E extends Streamed>(event: E): E {
  return isRelayed(event) ? { ...event, chunk: { ...event.chunk } } : { ...event }
}

/** Appends the delta of an event to the event that it continues. */
export function add(to: Streamed, event: Streamed): void {
  pieceOf(to).delta += pieceOf(event).delta
}

/** Returns the items of a step, with adjacent deltas merged. */
export function merged(items: readonly unknown[]): unknown[] {
  const joined: Streamed[] = []
  let own: Streamed | undefined
  for (const item of items as Streamed[]) {
    const last = joined.at(-1)
    if (!continues(last, item)) {
      joined.push(item)
      own = undefined
      continue
    }
    if (own === undefined) {
      own = ownCopy(last as Streamed)
      joined[joined.length - 1] = own
    }
    add(own, item)
  }
  return joined
}

function pieceOf(event: Streamed): Piece {
  return isRelayed(event) ? event.chunk : (event as Piece)
}

function isRelayed(event: Streamed): event is Relayed {
  return event.type === 'model:chunk'
}

function isPiece({ type }: Streamed): boolean {
  return deltas.has(type)
}

function sameBlock(before: Streamed, event: Streamed): boolean {
  const [a, b] = [before, event] as { id?: string; callId?: string; providerMetadata?: object }[]
  if (a?.id !== b?.id || a?.callId !== b?.callId) return false
  return a?.providerMetadata === undefined && b?.providerMetadata === undefined
}
