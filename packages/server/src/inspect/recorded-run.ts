import type { SessionKey } from '@allium/core'
import type { EventScope } from '@allium/store'
import type { StoreReader } from '../host/host.ts'

/** A run of which the trace log has records. Turns of its sub-agents belong to it. */
export interface RecordedRun {
  readonly key: SessionKey
  readonly turnId: string
  /** How many of its turns run in this process, including those of sub-agents. */
  openTurns: number
  /** Whether the event log of the server has it. */
  isLogged: boolean
  /** The time and the position of its last record. */
  lastAt: number
  lastSeq: number
}

/** How long a run that the server did not start has to be stored after its last record, in milliseconds. */
const storeTime = 10_000

/**
 * Returns a check whether a run still exists, for one reader. Your code or another process may have deleted or erased it in the store,
 * without a call in this process.
 */
export function existenceIn({ sessions, events }: StoreReader): (run: RecordedRun) => Promise<boolean> {
  const stored = new WeakSet<RecordedRun>()
  return async (run) => {
    const { key, turnId, openTurns, isLogged, lastAt } = run
    if (openTurns > 0 || stored.has(run)) return true
    if ((await sessions.head(key, { turnId })) !== undefined) {
      stored.add(run)
      return true
    }
    // A run is stored after its turn ends. The event log knows that it has not ended.
    if (!isLogged) return Date.now() - lastAt < storeTime
    const latest = await events.latest(key)
    return latest?.turnId === turnId && !latest.ended
  }
}

/** Whether a session belongs to what is deleted: one session, an owner or a tenant. */
export function isIn(scope: EventScope, key: SessionKey): boolean {
  return Object.entries(scope).every(
    ([field, value]) => value === undefined || key[field as keyof SessionKey] === value,
  )
}
