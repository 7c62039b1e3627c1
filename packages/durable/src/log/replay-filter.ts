import type { Entry, RunEvent } from './entry.ts'

interface EventFields {
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
interface CallProgress {
  /** Something of an answer. */
  hasOutput: boolean
  /** All of it. */
  isComplete: boolean
}

/**
 * What a run that is taken over tells again, and its readers know: that is passed over. A model call of which they know a part
 * begins anew, behind a `model:reset`.
 */
export class ReplayFilter {
  readonly #logged = new Map<string, number>()
  readonly #calls = new Map<string, CallProgress>()
  readonly #resetCalls = new Set<string>()
  #step = 0
  /** The text of the last step, as it was shown. */
  #text = ''

  /** @param entries what the log has */
  constructor(entries: readonly Entry[]) {
    for (const { event } of entries) this.#record(event as EventFields)
    this.#step = 0
  }

  /** What of an event is news, if anything. */
  filter(entry: Entry): Entry[] {
    const event = entry.event as EventFields
    const callKey = this.#callKeyOf(event)
    if (isChunk(event)) return this.#filterChunk(entry, callKey)
    if (event.type === 'model:reset' && this.#calls.get(callKey)?.isComplete === true) return []
    const key = keyOf(event)
    const remaining = this.#logged.get(key) ?? 0
    if (remaining === 0) return [entry]
    this.#logged.set(key, remaining - 1)
    return []
  }

  /** What is missing of the answer of a run that had ended. */
  missingText(answer: string): Entry[] {
    if (answer === this.#text || answer === '') return []
    const delta: Entry = { event: { type: 'text-delta', delta: answer.slice(this.#text.length) } }
    if (answer.startsWith(this.#text)) return [delta]
    const reset = { type: 'model:reset', stepIndex: this.#step } as unknown as RunEvent
    return [{ event: reset }, { event: { type: 'text-delta', delta: answer } }]
  }

  #filterChunk(entry: Entry, callKey: string): Entry[] {
    const call = this.#calls.get(callKey)
    if (call?.isComplete === true) return []
    if (call?.hasOutput !== true || this.#resetCalls.has(callKey)) return [entry]
    this.#resetCalls.add(callKey)
    const { path, turnId, stepIndex = this.#step } = entry.event as EventFields
    const reset = { type: 'model:reset', stepIndex, ...(path && { path }), ...(turnId && { turnId }) }
    return [{ event: reset as unknown as RunEvent }, entry]
  }

  #record(event: EventFields): void {
    const callKey = this.#callKeyOf(event)
    if (isChunk(event)) {
      const isFinish = (event.chunk ?? event).type === 'finish'
      this.#calls.set(callKey, { hasOutput: true, isComplete: isFinish })
      if (event.type === 'text-delta') this.#text += event.delta ?? ''
      return
    }
    if (event.type === 'model:reset') {
      this.#calls.set(callKey, { hasOutput: false, isComplete: false })
      if (event.path === undefined) this.#text = ''
    }
    if (event.type === 'step:start' && event.path === undefined) this.#text = ''
    // What comes behind a model call tells that it was whole.
    if (event.type === 'tool:start' || event.type === 'step:end')
      this.#calls.set(callKey, { hasOutput: true, isComplete: true })
    const key = keyOf(event)
    this.#logged.set(key, (this.#logged.get(key) ?? 0) + 1)
  }

  /** The model call that an event belongs to: chunks of the run's own tell no step. */
  #callKeyOf({ type, path, turnId, stepIndex }: EventFields): string {
    if (path === undefined && stepIndex !== undefined && type === 'step:start') this.#step = stepIndex
    if (path === undefined) return String(this.#step)
    return JSON.stringify([path, turnId, stepIndex])
  }
}

const chunkTypes: ReadonlySet<string> = new Set([
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

function isChunk({ type }: EventFields): boolean {
  return chunkTypes.has(type)
}

const turnEventTypes: ReadonlySet<string> = new Set([
  'turn:start',
  'step:start',
  'step:end',
  'tool:start',
  'tool:end',
  'model:warning',
])

/** What names an event: those of a layer are all that they say. */
function keyOf(event: EventFields): string {
  const { type, path, turnId, stepIndex, callId, id } = event
  return JSON.stringify(turnEventTypes.has(type) ? [type, path, turnId, stepIndex, callId, id] : event)
}
