import { AbortError, type Emit, type Journal } from '@allium/core'
import { recordStep, replayStep } from '@allium/store'
import { ReplayCheck } from '@allium/store/journal'

/** A step, and the steps that ran when it began. */
type Step = readonly [id: string, record: string, during: readonly string[]]

/** An entry of Restate's journal: steps in the order in which they ended, or the result of the work. */
export interface Entry {
  readonly steps: readonly Step[]
  readonly end?: string
}

/** Most characters of one entry, unless a single step has more. */
const maxEntryLength = 8 * 1024 * 1024

/** The journal of one attempt. */
export class StepLog implements Journal {
  readonly #records = new Map<string, string>()
  /** Steps that were recorded before this attempt and are not replayed yet. */
  readonly #unreplayed = new Set<string>()
  readonly #check = new ReplayCheck()
  readonly #waiters = new Map<string, () => void>()
  readonly #completed: Step[] = []
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

  /** Called for an entry that is not recorded. Waits for steps, or for the end. */
  async next(): Promise<Entry> {
    this.#running ??= this.#run()
    while (this.#completed.length === 0 && this.#end === undefined)
      await new Promise<void>((wake) => (this.#wake = wake))
    if (this.#completed.length > 0) return { steps: this.#nextBatch() }
    return { steps: [], end: this.#end?.() ?? '' }
  }

  /** Accepts an entry that Restate has stored, of this attempt or an earlier one. */
  acknowledge({ steps }: Entry): void {
    for (const [id, record, during] of steps) {
      this.#records.set(id, record)
      const resume = this.#waiters.get(id)
      if (resume === undefined) {
        this.#unreplayed.add(id)
        this.#check.add(id, during)
      }
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
    this.#check.use(id)
    if (recordedStep === undefined) {
      if (this.takenOver) throw new AbortError('Another attempt of Restate continues the run.')
      const waiting = this.#check.wait(id)
      if (waiting !== undefined) await waiting
      const during = this.#check.begin(id)
      try {
        return await recordStep(work, emit, (record) => this.#record([id, record, during]))
      } finally {
        this.#check.end(id)
      }
    }
    try {
      return await replayStep<T, C>(recordedStep, emit)
    } finally {
      this.#unreplayed.delete(id)
      this.#abortIfCancelled()
    }
  }

  checkEnd = (turnId: string): void => (this.takenOver ? undefined : this.#check.checkEnd(turnId))

  known = (id: string): boolean => this.#records.has(id)

  get takenOver(): boolean {
    return this.#attempt.aborted
  }

  /** Resolves when Restate has stored the step. */
  #record(step: Step): Promise<void> {
    this.#check.throwIfDiverged()
    this.#completed.push(step)
    this.#wake()
    return new Promise((resolve) => this.#waiters.set(step[0], resolve))
  }

  #nextBatch(): Step[] {
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

  /** Aborts a cancelled run after it has replayed the steps that ended before the cancellation. */
  #abortIfCancelled(): void {
    if (!this.#cancelled || this.#unreplayed.size > 0) return
    this.#abort.abort(new DOMException('The run was stopped.', 'AbortError'))
  }
}
