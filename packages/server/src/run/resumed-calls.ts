import type { SessionKey } from '@allium/core'
import type { Entry } from '@allium/durable/log'
import type { Host } from '../host.ts'

/**
 * The calls that the last run of a session begins with, where it goes on with an earlier answer: alone it is no message that a page
 * could show. Undefined where it begins with an input. Of a run that was only just opened it waits for the first event, until the
 * client disconnects.
 */
export async function readResumedCalls(
  { events }: Host,
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
