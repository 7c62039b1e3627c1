import type { RolloutStore } from '@allium/store'
import { checkLimit, checkRolloutRun, checkRolloutTurn, checkScore } from '@allium/store/rollouts'
import { erasedDuringRun } from '@allium/store-sql'
import { rolloutState } from '@allium/store-sql/rollouts'
import type { Database } from './database/database.ts'
import { writerSince } from './lease/leases.ts'

/** The counts of rollouts in Postgres. `postgres()` loads this with the first use of its `rollouts`. */
export function postgresRollouts(db: Database): RolloutStore {
  return {
    async begin(given, by) {
      const { run, rollout, user, isCanary, turns, windowMs, maxDrop, alpha } = checkRolloutTurn(given)
      const { tenant, owner, agent, sessionId } = run.key
      const [lease, began] = await writerSince(db, by)
      const place = [tenant, owner, agent, sessionId, run.turnId, lease, began]
      const isStored = await db.call(
        'begin_rollout_turn',
        ...place,
        rollout,
        user,
        isCanary,
        turns,
        windowMs,
        maxDrop,
        alpha,
      )
      if (isStored !== true) throw erasedDuringRun()
    },
    async score(rollout, given, score) {
      const { key, turnId } = checkRolloutRun(rollout, given)
      const place = [key.tenant, key.owner, key.sessionId, turnId, rollout]
      return (await db.call('score_rollout_turn', ...place, checkScore(score) ?? null)) === true
    },
    async look(rollout, { limit } = {}) {
      const sql = `select * from ${db.s}.look_at_rollout($1, $2)`
      const [row] = await db.queryIdempotent(sql, rollout, checkLimit(limit))
      return row === undefined ? undefined : rolloutState(row)
    },
    async decide(rollout, { round, verdict, by }) {
      return (await db.call('decide_rollout', rollout, round, verdict, by, crypto.randomUUID())) === true
    },
    restart: async (rollout) => (await db.callOnce('restart_rollout', rollout)) === true,
    list: async () =>
      (await db.queryIdempotent(`select * from ${db.s}.rollouts order by name limit 1000`)).map(rolloutState),
  }
}
