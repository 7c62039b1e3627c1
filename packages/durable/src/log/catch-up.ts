import type { Entry, RunEvent } from './entry.ts'

interface Of {
  readonly type: string
  readonly path?: readonly string[]
  readonly turnId?: string
  readonly stepIndex?: number
  readonly callId?: string
  readonly id?: string
  readonly chunk?: { readonly type: string }
  readonly delta?: string
}

/** What the readers of one model call were shown. */
interface Shown {
  /** Something of an answer. */
  some: boolean
  /** All of it. */
  whole: boolean
}

/**
 * What a run that is taken over tells again, and its readers know: that is passed over. A model call of which they know a part
 * begins anew, behind a `model:reset`.
 */
export class CatchUp {
  readonly #told = new Map<string, number>()
  readonly #shown = new Map<string, Shown>()
  readonly #reset = new Set<string>()
  #step = 0
  /** The text of the last step, as it was shown. */
  #text = ''

  /** @param entries what the log has */
  constructor(entries: readonly Entry[]) {
    for (const { event } of entries) this.#know(event as Of)
    this.#step = 0
  }

  /** What of an event is news, if anything. */
  pass(entry: Entry): Entry[] {
    const event = entry.event as Of
    const name = this.#nameOf(event)
    if (isChunk(event)) return this.#passChunk(entry, name)
    if (event.type === 'model:reset' && this.#shown.get(name)?.whole === true) return []
    const key = keyOf(event)
    const left = this.#told.get(key) ?? 0
    if (left === 0) return [entry]
    this.#told.set(key, left - 1)
    return []
  }

  /** What is missing of the answer of a run that had ended. */
  rest(answer: string): Entry[] {
    if (answer === this.#text || answer === '') return []
    const delta: Entry = { event: { type: 'text-delta', delta: answer.slice(this.#text.length) } }
    if (answer.startsWith(this.#text)) return [delta]
    const reset = { type: 'model:reset', stepIndex: this.#step } as unknown as RunEvent
    return [{ event: reset }, { event: { type: 'text-delta', delta: answer } }]
  }

  #passChunk(entry: Entry, name: string): Entry[] {
    const shown = this.#shown.get(name)
    if (shown?.whole === true) return []
    if (shown?.some !== true || this.#reset.has(name)) return [entry]
    this.#reset.add(name)
    const { path, turnId, stepIndex = this.#step } = entry.event as Of
    const reset = { type: 'model:reset', stepIndex, ...(path && { path }), ...(turnId && { turnId }) }
    return [{ event: reset as unknown as RunEvent }, entry]
  }

  #know(event: Of): void {
    const name = this.#nameOf(event)
    if (isChunk(event)) {
      const isFinish = (event.chunk ?? event).type === 'finish'
      this.#shown.set(name, { some: true, whole: isFinish })
      if (event.type === 'text-delta') this.#text += event.delta ?? ''
      return
    }
    if (event.type === 'model:reset') {
      this.#shown.set(name, { some: false, whole: false })
      if (event.path === undefined) this.#text = ''
    }
    if (event.type === 'step:start' && event.path === undefined) this.#text = ''
    // What comes behind a model call tells that it was whole.
    if (event.type === 'tool:start' || event.type === 'step:end') this.#shown.set(name, { some: true, whole: true })
    const key = keyOf(event)
    this.#told.set(key, (this.#told.get(key) ?? 0) + 1)
  }

  /** The model call that an event belongs to: chunks of the run's own tell no step. */
  #nameOf({ type, path, turnId, stepIndex }: Of): string {
    if (path === undefined && stepIndex !== undefined && type === 'step:start') this.#step = stepIndex
    if (path === undefined) return String(this.#step)
    return JSON.stringify([path, turnId, stepIndex])
  }
}

const chunks: ReadonlySet<string> = new Set([
  'text-delta',
  'reasoning-delta',
  'reasoning-end',
  'tool-input-start',
  'tool-input-delta',
  'tool-input-end',
  'tool-call',
  'tool-result',
  'file',
  'source',
  'custom',
  'finish',
  'model:chunk',
])

function isChunk({ type }: Of): boolean {
  return chunks.has(type)
}

const own: ReadonlySet<string> = new Set([
  'turn:start',
  'step:start',
  'step:end',
  'tool:start',
  'tool:end',
  'model:warning',
])

/** What names an event: those of a layer are all that they say. */
function keyOf(event: Of): string {
  const { type, path, turnId, stepIndex, callId, id } = event
  return JSON.stringify(own.has(type) ? [type, path, turnId, stepIndex, callId, id] : event)
}
