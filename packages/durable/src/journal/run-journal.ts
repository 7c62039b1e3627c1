import { AbortError, type Emit, isAlliumError, type Journal, type Lease, messageOf } from '@allium/core'
import { type RecordedStep, recordStepValue, replayStep, type StepValue } from '@allium/store'
import { isTakeoverStep, RunCheck } from '@allium/store/journal'
import type { Host } from '../host/host.ts'
import type { Shapes } from '../run/code-differences.ts'
import type { JournalHost, RunState } from './run-state.ts'

/** The journal of one run in a store, under its lease. */
export class RunJournal implements Journal {
  readonly lease: Lease
  readonly #run: string
  readonly #host: JournalHost
  readonly #state: RunState
  readonly #check: RunCheck
  /** A step recorded by this process has no body here, so that its bytes can be freed. A replay reads it from the store. */
  readonly #recorded: Map<string, unknown>
  /** The start of a run that was added just now. The store has recorded it with the run. */
  readonly #began: number | undefined
  /** The steps that are running. Those of an agent that a layer runs in `ctx.once()` begin with the id of that step. */
  readonly #running = new Set<string>()

  /** @param recording.steps the steps that were recorded before */
  constructor(
    host: JournalHost,
    state: RunState,
    {
      steps,
      check = new RunCheck(steps),
      began,
    }: { steps: readonly RecordedStep[]; check?: RunCheck; began?: number | undefined },
  ) {
    const { run, lease } = state.claimed
    this.lease = lease
    this.#run = run.run
    this.#host = host
    this.#state = state
    this.#check = check
    this.#began = began
    this.#recorded = new Map(steps.map(({ id, body }) => [id, body]))
  }

  /** The store might still accept the turn's end, but the new owner of the run reports it. */
  get takenOver(): boolean {
    return this.#state.isFenced
  }

  known(id: string): boolean {
    return this.#recorded.has(id)
  }

  checkEnd(turnId: string): void {
    if (!this.#state.isFenced) this.#check.checkEnd(turnId)
  }

  async step<T, C>(id: string, work: (emit: Emit<C>) => T | PromiseLike<T>, emit: Emit<C>): Promise<T> {
    this.#check.use(id)
    if (this.#recorded.has(id)) {
      const body = await this.#bodyOf(id)
      return this.#fitting(() => replayStep<T, C>(body, emit))
    }
    await this.#waitForRecorded(id)
    this.#throwIfStopped(id)
    if (this.#began !== undefined && id === startOf(this.#run)) {
      // Core learns from this call that no other process has begun the run.
      await work(emit)
      return this.#began as T
    }
    this.#running.add(id)
    const during = this.#check.begin(id)
    try {
      const result = await recordStepValue(work, emit, (value) => this.#record({ id, body: bodyWith(value, during) }))
      this.#state.endIfStopped()
      return result
    } finally {
      this.#running.delete(id)
      this.#check.end(id)
    }
  }

  async #bodyOf(id: string): Promise<unknown> {
    const { runs } = this.#host
    return this.#recorded.get(id) ?? (await runs.steps(this.lease, this.#run)).find((step) => step.id === id)?.body
  }

  /** Waits for the recorded steps that precede a new one. @throws AlliumError `journal.diverged` */
  async #waitForRecorded(id: string): Promise<void> {
    const isStopping = this.#state.check() !== undefined
    if (!this.#state.isFenced) await this.#fitting(() => this.#check.wait(id, isStopping))
    if (!isStopping && !isTakeoverStep(id)) await this.#fitting(() => this.#check.checkLost())
  }

  /** @throws AbortError if the run stops here */
  #throwIfStopped(id: string): void {
    const stopReason = this.#state.endIfStopped()
    // The layers of a stopped run still need it as they unwind, for example to write the last audit record.
    if (stopReason === undefined || (!this.#state.isFenced && this.#isOnce(id))) return
    this.#check.refuse(id)
    throw new AbortError(stopReason)
  }

  #isOnce(id: string): boolean {
    return id.startsWith(`${this.#run}:once:`) && ![...this.#running].some((outer) => id.startsWith(`${outer}:`))
  }

  /** Records a step. Retries for one lease while the store is unreachable. */
  async #record(step: RecordedStep): Promise<void> {
    this.#check.throwIfDiverged()
    const { clock, lease, runs } = this.#host
    const until = clock.monotonic() + lease
    while (!this.#state.hasEnded)
      try {
        await runs.record(this.lease, this.#run, step)
        if (!isTakeoverStep(step.id)) this.#state.advance()
        break
      } catch (error) {
        if (this.#state.hasEnded) break
        const isUnavailable = isAlliumError(error, 'store.unavailable')
        if (isUnavailable && !this.#state.isLost && clock.monotonic() < until) {
          await new Promise<void>((resolve) => clock.after(Math.min(200, lease / 10), resolve))
          continue
        }
        if (isUnavailable || isAlliumError(error, 'store.fenced')) this.#state.loseLease(messageOf(error))
        throw error
      }
    this.#recorded.set(step.id, undefined)
  }

  /** Gives the run up if it does not fit its recording. */
  async #fitting<T>(replay: () => T | Promise<T>): Promise<T> {
    try {
      return await replay()
    } catch (error) {
      if (isAlliumError(error, 'journal.diverged') || isAlliumError(error, 'journal.corrupt'))
        await this.#state.diverge(error)
      throw error
    }
  }
}

function startOf(run: string): string {
  return `${run}:start`
}

/** Returns the first step of a run, as its turn would record it. */
export function firstStepOf(run: string, began: number): RecordedStep {
  const body: StepValue = [[], { result: began }]
  return { id: startOf(run), body }
}

/** The body of a step, with the steps that ran when it began. */
function bodyWith(value: StepValue, during: readonly string[]): unknown {
  return during.length === 0 ? value : [...value, during]
}

/** Returns the check of a replay of recorded steps. A new step waits one lease for recorded ones. */
export function checkOf(
  steps: readonly RecordedStep[],
  { clock, lease }: Pick<Host, 'clock' | 'lease'>,
  shapes: Shapes | undefined,
): RunCheck {
  const patience = (expired: () => void) => clock.after(lease, expired, { idle: true })
  return new RunCheck(steps, { code: shapes && [shapes.began, shapes.now], patience })
}
