import { AbortError, type Emit, isAlliumError, type Journal, type Lease } from '@allium/core'
import { type RecordedStep, type RunStore, recordStepValue, replayStep, type StepValue } from '@allium/store'
import type { CodeShape } from '@allium/store/code-shape'
import { isTakeoverStep, RunCheck } from '@allium/store/journal'
import type { Host } from '../host/host.ts'

/** Callbacks from a journal to the process that executes the run. */
export interface JournalHost {
  /** Returns why no further step may start (the run was stopped, given up here, or lost), else undefined. */
  over(): string | undefined
  /** Returns whether this process lost the run or handed it over. */
  fenced(): boolean
  /** Called when a step without a record is requested and no further step may start. */
  ended(): void
  /** Called when the recorded steps cannot be replayed. */
  broken(error: unknown): Promise<void>
  /** Called when a step could not be recorded. */
  failed(error: unknown): void
  /** Calls `record`, and retries while the store is unreachable. @param isTakeover the step is no progress of the run */
  insist(record: () => Promise<void>, isTakeover: boolean): Promise<void>
}

/** Returns the journal of one run in a store, under its lease. */
export function runJournal(
  store: RunStore,
  { run, lease, check: ofHost }: { run: string; lease: Lease; check?: RunCheck },
  steps: readonly RecordedStep[],
  host: JournalHost,
): Journal {
  const check = ofHost ?? new RunCheck(steps)
  /** A step recorded by this process has no body here, so that its bytes can be freed. A replay reads it from the store. */
  const recordedSteps = new Map(steps.map(({ id, body }) => [id, body]))
  /** The steps that are running. Those of an agent that a layer runs in `ctx.once()` begin with the id of that step. */
  const running = new Set<string>()
  const isOnce = (id: string) =>
    id.startsWith(`${run}:once:`) && ![...running].some((outer) => id.startsWith(`${outer}:`))
  const bodyOf = async (id: string) =>
    recordedSteps.get(id) ?? (await store.steps(lease, run)).find((step) => step.id === id)?.body
  const record = async (id: string, body: unknown) => {
    try {
      check.throwIfDiverged()
      await host.insist(() => store.record(lease, run, { id, body }), isTakeoverStep(id))
    } catch (error) {
      host.failed(error)
      throw error
    }
    recordedSteps.set(id, undefined)
  }
  return {
    lease,
    // The store might still accept the turn's end, but the new owner of the run reports it.
    get takenOver() {
      return host.fenced()
    },
    known: (id) => recordedSteps.has(id),
    checkEnd(turnId) {
      if (!host.fenced()) check.checkEnd(turnId)
    },
    async step<T, C>(id: string, work: (emit: Emit<C>) => T | PromiseLike<T>, emit: Emit<C>): Promise<T> {
      check.use(id)
      if (recordedSteps.has(id)) return replayRecorded<T, C>(await bodyOf(id), emit, host)
      const isStopping = host.over() !== undefined
      if (!host.fenced()) await checkReplay(() => check.wait(id, isStopping), host)
      if (!isStopping && !isTakeoverStep(id)) await checkReplay(() => check.checkLost(), host)
      const over = host.over()
      if (over !== undefined) {
        host.ended()
        // The layers of a stopped run still need it as they unwind, for example to write the last audit record.
        if (host.fenced() || !isOnce(id)) {
          check.refuse(id)
          throw new AbortError(over)
        }
      }
      running.add(id)
      const during = check.begin(id)
      try {
        const result = await recordStepValue(work, emit, (body) => record(id, recordOf(body, during)))
        if (host.over() !== undefined) host.ended()
        return result
      } finally {
        running.delete(id)
        check.end(id)
      }
    },
  }
}

/** The body of a step, with the steps that ran when it began. */
function recordOf(body: StepValue, during: readonly string[]): unknown {
  return during.length === 0 ? body : [...body, during]
}

/** Returns the check of a replay of recorded steps. A new step waits one lease for recorded ones. @param began the code that the run was started with */
export async function checkOf(
  steps: readonly RecordedStep[],
  { clock, lease, shape }: Pick<Host, 'clock' | 'lease' | 'shape'>,
  began: CodeShape | undefined,
): Promise<RunCheck> {
  const patience = (expired: () => void) => clock.after(lease, expired, { idle: true })
  return new RunCheck(steps, { code: began && [began, await shape()], patience })
}

function replayRecorded<T, C>(body: unknown, emit: Emit<C>, host: JournalHost): Promise<T> {
  return checkReplay(() => replayStep<T, C>(body, emit), host)
}

/** Gives the run up if it does not fit its recording. */
async function checkReplay<T>(replay: () => T | Promise<T>, host: JournalHost): Promise<T> {
  try {
    return await replay()
  } catch (error) {
    if (isAlliumError(error, 'journal.diverged') || isAlliumError(error, 'journal.corrupt')) await host.broken(error)
    throw error
  }
}
