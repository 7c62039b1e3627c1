import { AbortError, type Emit, type Journal, recordStep, replayStep } from '@allium/core'

/** What one entry of Restate's journal holds: steps by their ids, in the order in which they ended, or what the work gave. */
export interface Entry {
  readonly steps: readonly (readonly [id: string, record: string])[]
  readonly end?: string
}

/** The most text that goes into one entry, unless a single step has more. */
const maxEntryLength = 8 * 1024 * 1024

/** The journal of one attempt. */
export class StepLog implements Journal {
  readonly #records = new Map<string, string>()
  /** Those that were recorded before this attempt, and that nobody has asked for yet. */
  readonly #unreplayed = new Set<string>()
  readonly #waiters = new Map<string, () => void>()
  readonly #completed: [string, string][] = []
  readonly #abort = new AbortController()
  readonly #work: () => Promise<string>
  #running: Promise<void> | undefined
  #end: (() => string) | undefined
  #wake = () => {}
  #cancelled = false
  readonly #attempt: AbortSignal

  /** @param attempt aborts when Restate has given the run to another attempt */
  constructor(work: (journal: Journal, signal: AbortSignal) => Promise<string>, attempt: AbortSignal) {
    this.#attempt = attempt
    const signal = AbortSignal.any([this.#abort.signal, attempt])
    this.#work = () => work(this, signal)
  }

  /** Asked for an entry that is not recorded: waits for steps, or for the end. */
  async next(): Promise<Entry> {
    this.#running ??= this.#run()
    while (this.#completed.length === 0 && this.#end === undefined)
      await new Promise<void>((wake) => (this.#wake = wake))
    if (this.#completed.length > 0) return { steps: this.#nextBatch() }
    return { steps: [], end: this.#end?.() ?? '' }
  }

  /** An entry that Restate has, of this attempt or an earlier one. */
  acknowledge({ steps }: Entry): void {
    for (const [id, record] of steps) {
      this.#records.set(id, record)
      const resume = this.#waiters.get(id)
      if (resume === undefined) this.#unreplayed.add(id)
      this.#waiters.delete(id)
      resume?.()
    }
  }

  cancel(): void {
    this.#cancelled = true
    this.#abortIfCancelled()
  }

  step = async <T, C>(id: string, work: (emit: Emit<C>) => T | PromiseLike<T>, emit: Emit<C>): Promise<T> => {
    const recordedStep = this.#records.get(id)
    if (recordedStep === undefined) {
      if (this.lost) throw new AbortError('Another attempt of Restate goes on with the run.')
      return recordStep(work, emit, (record) => this.#record(id, record))
    }
    try {
      return await replayStep<T, C>(recordedStep, emit)
    } finally {
      this.#unreplayed.delete(id)
      this.#abortIfCancelled()
    }
  }

  known = (id: string): boolean => this.#records.has(id)

  get lost(): boolean {
    return this.#attempt.aborted
  }

  /** Resolves when Restate has it. */
  #record(id: string, record: string): Promise<void> {
    this.#completed.push([id, record])
    this.#wake()
    return new Promise((resolve) => this.#waiters.set(id, resolve))
  }

  #nextBatch(): [string, string][] {
    let size = 0
    const rest = this.#completed.findIndex(([, record], i) => (size += record.length) > maxEntryLength && i > 0)
    return this.#completed.splice(0, rest < 0 ? this.#completed.length : rest)
  }

  async #run(): Promise<void> {
    this.#abortIfCancelled()
    try {
      const text = await this.#work()
      this.#end = () => text
    } catch (error) {
      this.#end = () => {
        throw error
      }
    }
    this.#wake()
  }

  /** What had ended before it was cancelled is given again first. */
  #abortIfCancelled(): void {
    if (!this.#cancelled || this.#unreplayed.size > 0) return
    this.#abort.abort(new DOMException('The run was stopped.', 'AbortError'))
  }
}
