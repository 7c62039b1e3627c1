import type { RolloutTurn, RunKey } from '@allium/store'
import { type Increments, windowCounts } from '@allium/store/rollouts'
import type { Database, Row } from './database/database.ts'
import type { ErasureLog } from './lease/erasure-log.ts'

/** The windows of users in a SQLite file. Every method but `hasWork` runs inside a transaction. */
export class RolloutWindows {
  readonly #db: Database
  readonly #erasures: ErasureLog

  constructor(db: Database, erasures: ErasureLog) {
    this.#db = db
    this.#erasures = erasures
  }

  add({ rollout, run, user, isCanary, turns: size, windowMs }: RolloutTurn, round: number, token: number, now: number) {
    const userDigest = this.#erasures.digest(JSON.stringify(['rollout user', rollout, user]))
    const { count, counted } = this.#db.get(sizeOfWindow, rollout, userDigest, round) as Row
    if (Number(counted) > 0 || Number(count) >= size) return
    const { tenant, owner } = run.key
    const digests = [userDigest, this.#digestOf(rollout, run), ...this.#erasures.digests({ tenant, owner })]
    const closesAt = Math.ceil(now + windowMs)
    this.#db.run(addTurn, rollout, round, ...digests, token, Number(isCanary), size, closesAt)
  }

  /** Returns whether the turn was scored. */
  score(rollout: string, round: number, run: RunKey, score: number | null): boolean {
    const row = this.#db.get(setScore, score, rollout, this.#digestOf(rollout, run), round)
    if (row === undefined) return false
    const { count, settled } = this.#db.get(settledOfWindow, rollout, row.user as string, round) as Row
    if (Number(count) >= Number(row.size) && count === settled) this.#close(rollout, round, String(row.user))
    return true
  }

  /** Whether windows are due, or rows of earlier rounds are left. */
  hasWork({ name, round, stopped_at: stoppedAt }: Row, now: number): boolean {
    const [due, old] = stoppedAt === null ? [now, round] : [-1, Number(round) + 1]
    return this.#db.get(anyWork, name as string, due as number, name as string, old as number) !== undefined
  }

  closeDue(rollout: string, round: number, now: number, limit: number): void {
    for (const { user } of this.#db.all(dueUsers, rollout, now, round, limit)) this.#close(rollout, round, String(user))
  }

  /** Deletes some rows of earlier rounds; those of all rounds if none is given. */
  deleteOld(rollout: string, round = Number.MAX_SAFE_INTEGER): void {
    this.#db.run(deleteSomeOld, rollout, round)
  }

  /** Replaces the turns of a user with the row that says that it has counted. */
  #close(rollout: string, round: number, user: string): void {
    const rows = this.#db.all(turnsOfUser, rollout, user, round)
    this.#db.run(markUser, rows[0]?.n as number)
    this.#db.run(deleteTurns, rollout, user)
    const turns = rows.map(({ changed, score }) => ({ isCanary: changed === 1, score: score as number | null }))
    this.#count(rollout, windowCounts(turns, Math.random()))
  }

  #count(rollout: string, increments: Increments): void {
    const counts = JSON.parse(String(this.#db.get('select counts from rollouts where name = ?', rollout)?.counts))
    for (const [index, by] of increments) counts[index] += by
    this.#db.run('update rollouts set counts = ? where name = ?', JSON.stringify(counts), rollout)
  }

  /** Without the agent, because a renamed agent keeps its turns. */
  #digestOf(rollout: string, { key: { tenant, owner, sessionId }, turnId }: RunKey): string {
    return this.#erasures.digest(JSON.stringify(['rollout turn', rollout, tenant, owner, sessionId, turnId]))
  }
}

const ofUser = 'rollout = ? and user = ? and round = ?'

const sizeOfWindow = `select count(*) as count, sum(turn = '') as counted from rollout_turns where ${ofUser}`

const settledOfWindow = `select count(*) as count, sum(settled) as settled from rollout_turns where ${ofUser}`

const addTurn = `insert into rollout_turns (rollout, round, user, turn, tenant, owner, token, changed, size, closes_at, settled)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0) on conflict do nothing`

const setScore = `update rollout_turns set score = ?, settled = 1 where rollout = ? and turn = ? and round = ?
  returning user, size`

const turnsOfUser = `select n, changed, score from rollout_turns where ${ofUser} order by n`

const markUser = `update rollout_turns set turn = '', closes_at = null, score = null where n = ?`

const deleteTurns = `delete from rollout_turns where rollout = ? and user = ? and turn <> ''`

const dueUsers = `select distinct user from rollout_turns where rollout = ? and closes_at <= ? and round = ? limit ?`

const anyWork = `select 1 from rollout_turns where rollout = ? and closes_at <= ?
  union all select 1 from rollout_turns where rollout = ? and round < ? limit 1`

const deleteSomeOld = `delete from rollout_turns where n in (
  select n from rollout_turns where rollout = ? and round < ? limit 500)`
