import {
  AbortError,
  type Emit,
  isAlliumError,
  type Journal,
  type Lease,
  type RecordedStep,
  type RunStore,
  recordStepValue,
  replayStep,
} from '@allium/core'

/** What a run's journal tells whoever runs it. */
export interface JournalHost {
  /** Why nothing more is run, if so: the run was stopped, given up here, or lost. */
  over(): string | undefined
  /** The process has lost the run, or left it to another one. */
  fenced(): boolean
  /** A step that nobody has recorded is asked for, and nothing more is run. */
  ended(): void
  /** What is recorded cannot be gone on with. */
  broken(error: unknown): Promise<void>
  /** A step could not be recorded. */
  failed(error: unknown): void
  /** Calls `record`, and again while the store cannot be reached. */
  insist(record: () => Promise<void>): Promise<void>
}

/** The steps of one run in a store, under its lease. */
export function runJournal(
  store: RunStore,
  { run, lease }: { run: string; lease: Lease },
  steps: readonly RecordedStep[],
  host: JournalHost,
): Journal {
  /** A step that was recorded here has no body: it is read from the store if it is replayed, so that its bytes can be freed. */
  const recordedSteps = new Map(steps.map(({ id, body }) => [id, body]))
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
    // Though the store would still take its end: that is told by who has it then.
    get lost() {
      return host.fenced()
    },
    known: (id) => recordedSteps.has(id),
    async step<T, C>(id: string, work: (emit: Emit<C>) => T | PromiseLike<T>, emit: Emit<C>): Promise<T> {
      if (recordedSteps.has(id)) return replayRecorded<T, C>(await bodyOf(id), emit, host)
      const over = host.over()
      if (over !== undefined) {
        host.ended()
        throw new AbortError(over)
      }
      const result = await recordStepValue(work, emit, (body) => record(id, body))
      if (host.over() !== undefined) host.ended()
      return result
    },
  }
}

async function replayRecorded<T, C>(body: unknown, emit: Emit<C>, host: JournalHost): Promise<T> {
  try {
    return await replayStep<T, C>(body, emit)
  } catch (error) {
    if (isAlliumError(error, 'journal.diverged') || isAlliumError(error, 'journal.corrupt')) await host.broken(error)
    throw error
  }
}
