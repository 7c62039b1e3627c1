import type { RolloutStore } from '@allium/store'
import { checkLimit, checkRolloutRun, checkRolloutTurn, checkScore, noRolloutCounts } from '@allium/store/rollouts'
import { rolloutState } from '@allium/store-sql/rollouts'
import { RolloutWindows } from './rollout-windows.ts'
import type { StoreParts } from './store-parts.ts'

/** The counts of rollouts in a SQLite file. `sqlite()` loads this with the first use of its `rollouts`. */
export function sqliteRollouts({ db, clock, writers, erasures }: StoreParts): RolloutStore {
  const windows = new RolloutWindows(db, erasures)
  const running = (name: string) => {
    const row = db.get('select * from rollouts where name = ?', name)
    return row?.stopped_at === null ? row : undefined
  }
  return {
    async begin(given, by) {
      const turn = checkRolloutTurn(given)
      await db.writeUnsynced(() => {
        const token = writers.token(turn.run.key, by)
        db.run(createRollout, turn.rollout, clock.now(), turn.maxDrop, turn.alpha, JSON.stringify(noRolloutCounts()))
        const row = running(turn.rollout)
        if (row !== undefined) windows.add(turn, Number(row.round), token, clock.now())
      })
    },
    async score(rollout, given, score) {
      const run = checkRolloutRun(rollout, given)
      const checked = checkScore(score) ?? null
      return db.writeUnsynced(() => {
        const row = running(rollout)
        return row !== undefined && windows.score(rollout, Number(row.round), run, checked)
      })
    },
    async look(rollout, { limit } = {}) {
      const most = checkLimit(limit)
      const row = db.get('select * from rollouts where name = ?', rollout)
      if (row === undefined) return undefined
      if (!windows.hasWork(row, clock.now())) return rolloutState(row)
      return db.writeUnsynced(() => {
        const now = running(rollout)
        if (now !== undefined) windows.closeDue(rollout, Number(now.round), clock.now(), most)
        windows.deleteOld(rollout, now === undefined ? undefined : Number(now.round))
        return rolloutState(db.get('select * from rollouts where name = ?', rollout) ?? row)
      })
    },
    async decide(rollout, { round, verdict, by }) {
      const [sql, values] = verdict === 'stop' ? [setStopped, [clock.now(), by]] : [setGood, [clock.now()]]
      return db.writeInGroup(() => db.run(sql, ...values, rollout, round) === 1)
    },
    async restart(rollout) {
      return db.writeInGroup(() => db.run(newRound, clock.now(), JSON.stringify(noRolloutCounts()), rollout) === 1)
    },
    list: async () => db.all('select * from rollouts order by name limit 1000').map(rolloutState),
  }
}

const createRollout = `insert into rollouts (name, round, started_at, max_drop, alpha, counts) values (?, 1, ?, ?, ?, ?)
  on conflict (name) do update set max_drop = excluded.max_drop, alpha = excluded.alpha where max_drop is null`

const setStopped = `update rollouts set stopped_at = ?, stopped_by = ? where name = ? and round = ? and stopped_at is null`

const setGood = `update rollouts set good_at = ? where name = ? and round = ? and stopped_at is null and good_at is null`

const newRound = `update rollouts set round = round + 1, started_at = ?, counts = ?, max_drop = null, alpha = null,
  stopped_at = null, stopped_by = null, good_at = null where name = ?`
