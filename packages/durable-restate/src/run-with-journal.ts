import type { Journal } from '@allium/core'
import { CancelledError, type Context, RestatePromise } from '@restatedev/restate-sdk'
import { type Entry, StepLog } from './step-log.ts'

/**
 * Runs work whose steps are recorded in Restate. Restate identifies steps by their order, and Allium by their ids. In a replay, parallel
 * tools may request their steps in another order. So each entry holds the steps that ended next: one loop orders the entries, and
 * they contain the ids. The work starts once all recorded entries are read. If its end is recorded, it does not start at all.
 *
 * @param work gets the journal, and a signal that aborts when the invocation is cancelled or its attempt is over; returns a string
 * @throws TerminalError if the work throws one; after any other error Restate retries
 */
export async function recorded(
  ctx: Pick<Context, 'run' | 'request'>,
  work: (journal: Journal, signal: AbortSignal) => Promise<string>,
): Promise<string> {
  const log = new StepLog(work, ctx.request().attemptCompletedSignal)
  for (;;) {
    const entry = await ignoreCancellation(
      ctx.run('steps', () => log.next()),
      () => log.cancel(),
    )
    if (entry.end !== undefined) return entry.end
    log.acknowledge(entry)
  }
}

/** Waits for the entry of a cancelled invocation too: the aborted run still writes it. */
async function ignoreCancellation(entry: RestatePromise<Entry>, onCancel: () => void): Promise<Entry> {
  for (;;)
    try {
      const [written] = await RestatePromise.all([entry])
      return written
    } catch (error) {
      if (!(error instanceof CancelledError)) throw error
      onCancel()
    }
}
