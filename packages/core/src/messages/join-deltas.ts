/** Something that is streamed. */
interface Streamed {
  readonly type: string
}
/** A piece of text, thought or tool input. */
interface Piece extends Streamed {
  delta: string
}
/** One of a sub-agent. */
interface Relayed extends Streamed {
  readonly turnId: string
  readonly stepIndex: number
  readonly chunk: Piece
}

/** Whether a piece of text, thought or tool input goes on where the event before it ended. */
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

/** A copy that can be added to. */
export function ownCopy<E extends Streamed>(event: E): E {
  return isRelayed(event) ? { ...event, chunk: { ...event.chunk } } : { ...event }
}

/** Adds to an event what `continues` it. */
export function add(to: Streamed, event: Streamed): void {
  pieceOf(to).delta += pieceOf(event).delta
}

/** The items of a step, with neighbouring pieces as one. */
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
  return type === 'text-delta' || type === 'reasoning-delta' || type === 'tool-input-delta'
}

function sameBlock(before: Streamed, event: Streamed): boolean {
  const [a, b] = [before, event] as { id?: string; callId?: string; providerMetadata?: object }[]
  if (a?.id !== b?.id || a?.callId !== b?.callId) return false
  return a?.providerMetadata === undefined && b?.providerMetadata === undefined
}
