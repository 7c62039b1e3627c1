import { AbortError, type Emit, type Journal, recordStep, replayStep } from '@allium/core'

/** What one entry of Restate's journal holds: steps by their ids, in the order in which they ended, or what the work gave. */
export interface Entry {
  readonly steps: readonly (readonly [id: string, record: string])[]
  readonly end?: string
}

/** The most text that goes into one entry, unless a single step has more. */
const largest = 8 * 1024 * 1024

/** The journal of one attempt. */
export class StepLog implements Journal {
  readonly #records = new Map<string, string>()
  /** Those that were recorded before this attempt, and that nobody has asked for yet. */
  readonly #unasked = new Set<string>()
  readonly #acknowledged = new Map<string, () => void>()
  readonly #ended: [string, string][] = []
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
    while (this.#ended.length === 0 && this.#end === undefined) await new Promise<void>((wake) => (this.#wake = wake))
    if (this.#ended.length > 0) return { steps: this.#take() }
    return { steps: [], end: this.#end?.() ?? '' }
  }

  /** An entry that Restate has, of this attempt or an earlier one. */
  acknowledge({ steps }: Entry): void {
    for (const [id, record] of steps) {
      this.#records.set(id, record)
      const goOn = this.#acknowledged.get(id)
      if (goOn === undefined) this.#unasked.add(id)
      this.#acknowledged.delete(id)
      goOn?.()
    }
  }

  cancel(): void {
    this.#cancelled = true
    this.#abortIfCancelled()
  }

  step = async <T, C>(id: string, work: (emit: Emit<C>) => T | PromiseLike<T>, emit: Emit<C>): Promise<T> => {
    const known = this.#records.get(id)
    if (known === undefined) {
      if (this.lost) throw new AbortError('Another attempt of Restate goes on with the run.')
      return recordStep(work, emit, (record) => this.#keep(id, record))
    }
    try {
      return await replayStep<T, C>(known, emit)
    } finally {
      this.#unasked.delete(id)
      this.#abortIfCancelled()
    }
  }

  known = (id: string): boolean => this.#records.has(id)

  get lost(): boolean {
    return this.#attempt.aborted
  }

  /** Resolves when Restate has it. */
  #keep(id: string, record: string): Promise<void> {
    this.#ended.push([id, record])
    this.#wake()
    return new Promise((resolve) => this.#acknowledged.set(id, resolve))
  }

  #take(): [string, string][] {
    let size = 0
    const rest = this.#ended.findIndex(([, record], i) => (size += record.length) > largest && i > 0)
    return this.#ended.splice(0, rest < 0 ? this.#ended.length : rest)
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
    if (!this.#cancelled || this.#unasked.size > 0) return
    this.#abort.abort(new DOMException('The run was stopped.', 'AbortError'))
  }
}
