import type { Journal } from '@allium/core'
import { CancelledError, type Context, RestatePromise } from '@restatedev/restate-sdk'
import { type Entry, StepLog } from './step-log.ts'

/**
 * Does work whose steps are recorded in Restate. Restate knows steps by their order, Allium by their ids, and on a replay parallel
 * tools may ask in another order. So each entry is "what ended next": the order of entries is that of one loop, and the ids stand
 * in them. The work begins once all that is recorded has been read; where its end is recorded, it is not done at all.
 *
 * @param work gets the journal, and a signal that aborts when the invocation is cancelled or its attempt is over; gives a text
 * @throws TerminalError what the work threw as such; after any other error Restate asks again
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

/** A cancelled invocation has its entry nevertheless: the run that is aborted writes it. */
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
