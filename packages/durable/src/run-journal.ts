import { AbortError, type Emit, isAlliumError, type Journal, type Lease } from '@allium/core'
import { type RecordedStep, ReplayCheck, type RunStore, recordStepValue, replayStep } from '@allium/store'

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
  /** Calls `record`, and retries while the store is unreachable. */
  insist(record: () => Promise<void>): Promise<void>
}

/** Returns the journal of one run in a store, under its lease. */
export function runJournal(
  store: RunStore,
  { run, lease }: { run: string; lease: Lease },
  steps: readonly RecordedStep[],
  host: JournalHost,
): Journal {
  /** A step recorded by this process has no body here, so that its bytes can be freed. A replay reads it from the store. */
  const recordedSteps = new Map(steps.map(({ id, body }) => [id, body]))
  const check = new ReplayCheck(recordedSteps.keys())
  /** The steps that are running. Those of an agent that a layer runs in `ctx.once()` begin with the id of that step. */
  const running = new Set<string>()
  const isOnce = (id: string) =>
    id.startsWith(`${run}:once:`) && ![...running].some((outer) => id.startsWith(`${outer}:`))
  const bodyOf = async (id: string) =>
    recordedSteps.get(id) ?? (await store.steps(lease, run)).find((step) => step.id === id)?.body
  const record = async (id: string, body: unknown) => {
    try {
      await host.insist(() => store.record(lease, run, { id, body }))
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
    checkEnd: (turnId) => check.checkEnd(turnId),
    async step<T, C>(id: string, work: (emit: Emit<C>) => T | PromiseLike<T>, emit: Emit<C>): Promise<T> {
      check.use(id)
      if (recordedSteps.has(id)) return replayRecorded<T, C>(await bodyOf(id), emit, host)
      const over = host.over()
      if (over !== undefined) {
        host.ended()
        // The layers of a stopped run still need it as they unwind, for example to write the last audit record.
        if (host.fenced() || !isOnce(id)) throw new AbortError(over)
      }
      await checkReplay(() => check.checkNew(id), host)
      running.add(id)
      try {
        const result = await recordStepValue(work, emit, (body) => record(id, body))
        if (host.over() !== undefined) host.ended()
        return result
      } finally {
        running.delete(id)
      }
    },
  }
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
