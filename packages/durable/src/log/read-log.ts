import type { EventLog, RunKey } from '@allium/store'
import { type Entry, toEntry } from '@allium/store/event-log'

/** Returns the entries that the log has of a run so far. */
export async function readLog(log: EventLog, run: RunKey): Promise<Entry[]> {
  const latest = await log.latest(run.key)
  if (latest === undefined || latest.turnId !== run.turnId || latest.seq === 0) return []
  const entries: Entry[] = []
  for await (const logged of log.read(run, 0)) {
    entries.push(toEntry(logged))
    if (logged.seq >= latest.seq) break
  }
  return entries
}
