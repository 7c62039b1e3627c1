import type { SessionKey } from '@allium/core'
import type { Entry } from '@allium/store/event-log'
import type { StoreReader } from '../host/host.ts'

/**
 * Returns the decided calls with which the last run of a session begins, if it resumes an earlier answer. A page cannot show such a run
 * as a separate message. Returns undefined if the run begins with an input. If the run has only been opened, waits for its first
 * event until the client disconnects.
 */
export async function readResumedCalls(
  { events }: StoreReader,
  key: SessionKey,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const latest = await events.latest(key)
  if (latest === undefined || (latest.ended && latest.seq === 0)) return undefined
  for await (const { event: logged } of events.read({ key, turnId: latest.turnId }, 0, signal)) {
    const { event, decided = [] } = logged as Entry
    return (event as { resumes?: string }).resumes === undefined ? undefined : decided
  }
  return undefined
}
