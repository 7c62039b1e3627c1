import type { RolloutState, RolloutStopper } from '@allium/store'
import { armsOf } from '@allium/store/rollouts'
import type { SqlRow } from '@allium/store-sql'

/** Returns a rollout from its row. The counts are an array, or one as JSON. */
export function rolloutState(row: SqlRow): RolloutState {
  const { counts, max_drop, alpha, stopped_at, stopped_by, good_at } = row
  const list = (typeof counts === 'string' ? JSON.parse(counts) : counts) as unknown[]
  const [isSet, isStopped, isGood] = [max_drop, stopped_at, good_at].map((value) => value != null)
  return {
    ...{ rollout: String(row.name), round: Number(row.round), startedAt: Number(row.started_at) },
    ...(isSet && { maxDrop: Number(max_drop), alpha: Number(alpha) }),
    ...(isStopped && { stopped: { at: Number(stopped_at), by: stopped_by as RolloutStopper } }),
    ...(isGood && { goodAt: Number(good_at) }),
    ...armsOf(list.map(Number)),
  }
}
