import { contentKinds } from '@allium/core/internal'
import type { Entry, RunEvent } from '@allium/store/event-log'

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

/** How much of one model call its readers have received. */
interface CallProgress {
  /** They have a part of an answer. */
  hasOutput: boolean
  /** They have the whole answer. */
  isComplete: boolean
}

/**
 * Drops events that a taken-over run emits again and its readers already have. A model call that they have in part starts again after
 * a `model:reset`.
 */
export class ReplayFilter {
  readonly #logged = new Map<string, number>()
  readonly #calls = new Map<string, CallProgress>()
  readonly #resetCalls = new Set<string>()
  #step = 0
  /** Text of the last step, as displayed. */
  #text = ''

  /** @param entries the logged entries */
  constructor(entries: readonly Entry[]) {
    for (const { event } of entries) this.#record(event as EventFields)
    this.#step = 0
  }

  /** Returns the entries to emit for an event: none if readers have it. */
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

  /** Returns the missing part of the answer of an ended run. */
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
    // An event after a model call shows that its answer was complete.
    if (event.type === 'tool:start' || event.type === 'step:end')
      this.#calls.set(callKey, { hasOutput: true, isComplete: true })
    const key = keyOf(event)
    this.#logged.set(key, (this.#logged.get(key) ?? 0) + 1)
  }

  /** Returns the key of an event's model call. Chunks of the run itself have no step index. */
  #callKeyOf({ type, path, turnId, stepIndex }: EventFields): string {
    if (path === undefined && stepIndex !== undefined && type === 'step:start') this.#step = stepIndex
    if (path === undefined) return String(this.#step)
    return JSON.stringify([path, turnId, stepIndex])
  }
}

/** The types of chunks that are events of a run, besides those that pass through the layers. */
const otherChunkTypes: ReadonlySet<string> = new Set(['reasoning-end', 'tool-call', 'finish', 'model:chunk'])

function isChunk({ type }: EventFields): boolean {
  return contentKinds.has(type) || otherChunkTypes.has(type)
}

const turnEventTypes: ReadonlySet<string> = new Set([
  'turn:start',
  'step:start',
  'step:end',
  'tool:start',
  'tool:end',
  'model:warning',
])

/** Returns the identity of an event. A layer's event is identified by all its fields. */
function keyOf(event: EventFields): string {
  const { type, path, turnId, stepIndex, callId, id } = event
  return JSON.stringify(turnEventTypes.has(type) ? [type, path, turnId, stepIndex, callId, id] : event)
}
