import type {
  Page,
  RecordedStep,
  RunCount,
  RunDescription,
  RunOperations,
  RunSummary,
  StoredSchedule,
} from '@allium/store'
import {
  type Blobs,
  checkName,
  maxFoundRuns,
  maxRunCounts,
  operatedColumns,
  operatedRunFromRow,
  parseCursor,
  retryRead,
  runCountFromRow,
  runDescription,
  runFilterParams,
  runRowKey,
  schedulePage,
  stepInLog,
  stepsOf,
  toPage,
} from '@allium/store-sql'
import type { Database, Row } from '../database/database.ts'
import type { SharedClock } from '../database/machine-clock.ts'
import type { StoreParts } from '../store-parts.ts'
import { sessionJoin } from './run-rows.ts'

type Query<Method extends keyof RunOperations> = Parameters<RunOperations[Method]>[0]

const isOfTenants = '(?1 is null or tenant in (select value from json_each(?1)))'

/** Milliseconds that the lease of a running run still has: ?2 is the monotonic time, and ?3 the boot of the machine. */
const remaining = `(select s.held_until - ?2 from sessions s where ${sessionJoin} and s.run = r.run and s.boot = ?3)`
const status = `iif(r.status = 'running' and coalesce(${remaining}, 0) <= 0, 'lost', r.status)`
/** ?4 is the time. */
const columns = `${operatedColumns}, ${status} as status, worker, iif(r.status = 'running', ?4 + ${remaining}, null) as held_until,
  (select at from run_log l where l.run = r.n order by l.n limit 1) as added_at`

const listRuns = `
  select ${columns} from runs r where ${isOfTenants} and (?5 is null or ${status} = ?5) and (?6 is null or agent = ?6)
  and (?7 is null or version = ?7) and (?8 is null or queue = ?8) and (?9 is null or owner = ?9)
  and (?10 is null or session = ?10) and (?11 is null or code = ?11) and (?12 is null or updated_at <= ?4 - ?12)
  and n < ?13 order by n desc limit ?14`

const countRuns = (which: string) => `
  select status, agent, version, queue, code, count(*) as count, min(since) as oldest from (
    select ${status} as status, agent, version, queue, code, iif(r.status = 'queued', run_at, updated_at) as since from runs r
    where ${isOfTenants} ${which}
  ) group by 1, 2, 3, 4, 5 order by 6 desc, 1, 2, 3, 4, 5 limit ${maxRunCounts}`

const listSchedules = `
  select * from schedules where ${isOfTenants} and (?2 is null or owner = ?2) and (?3 is null or agent = ?3)
  and (?4 is null or id = ?4) and (?5 is null or (paused is not null) = ?5) and (tenant, owner, id) > (?6, ?7, ?8)
  order by tenant, owner, id limit ?9`

const listSteps = `
  select s.id, s.body, s.sealed_as from runs r join steps s on s.tenant = r.tenant and s.run = r.run
  left join run_log l on l.run = r.n and l.kind = 'step' and l.detail = ${stepInLog('s')} where r.tenant = ? and r.run = ? order by l.n`

/** Shows the durable runs in a SQLite file to operators. */
export class SqliteOperations implements RunOperations {
  readonly #db: Database
  readonly #clock: SharedClock
  readonly #blobs: Blobs

  constructor({ db, clock, blobs }: StoreParts) {
    this.#db = db
    this.#clock = clock
    this.#blobs = blobs
  }

  async now(): Promise<number> {
    return this.#clock.now()
  }

  async list({ cursor, limit, ...filter }: Query<'list'>): Promise<Page<RunSummary>> {
    const { tenants, olderThan, ...fields } = runFilterParams(filter)
    const [beforeRow] = parseCursor(cursor, [Number.MAX_SAFE_INTEGER])
    const values = [...this.#params(tenants), ...Object.values(fields), olderThan, beforeRow, limit + 1]
    return toPage(this.#db.all(listRuns, ...values), limit, ({ n }) => [Number(n)], operatedRunFromRow)
  }

  async find({ run, tenants }: Query<'find'>): Promise<RunSummary[]> {
    const { tenants: names } = runFilterParams({ tenants })
    const id = checkName('id of the run', run)
    const exact = this.#runsWhere(names, 'run = ?5', id)
    // No character of an id is greater.
    const found = exact.length > 0 ? exact : this.#runsWhere(names, 'run > ?5 and run < ?6', id, `${id}\u{10ffff}`)
    return found.map(operatedRunFromRow)
  }

  async describe({ limit, ...scope }: Query<'describe'>): Promise<RunDescription | undefined> {
    const run = this.#findOne(scope)
    if (run === undefined) return undefined
    const session = [run.tenant, run.owner, run.session_agent, run.session, run.run] as string[]
    const isOfTurn = 'tenant = ? and owner = ? and agent = ? and session = ? and turn_id = ?'
    const selectLog = 'select * from run_log where run = ? order by n desc limit ?'
    const rows = {
      run,
      log: this.#db.all(selectLog, Number(run.n), limit + 1),
      pending: this.#db.all(`select * from pending_calls where ${isOfTurn} order by n`, ...session),
      turn: this.#db.get(`select usage from turns where ended_at is not null and ${isOfTurn}`, ...session),
    }
    return runDescription(rows, limit)
  }

  async count({ tenants, open = false }: Query<'count'>): Promise<RunCount[]> {
    const { tenants: names } = runFilterParams({ tenants })
    const sql = countRuns(open ? "and r.status in ('queued', 'running')" : '')
    return this.#db.all(sql, ...this.#params(names).slice(0, 3)).map(runCountFromRow)
  }

  async forceStop(scope: Query<'forceStop'>, { code, reason }: { code: string; reason: string }): Promise<boolean> {
    const sql = `update runs set status = 'aborted', code = ?, reason = ?, updated_at = ?
      where tenant = ? and run = ? and status in ('queued', 'running')`
    return this.#db.write(() => this.#db.run(sql, code, reason, this.#clock.now(), ...runRowKey(scope)) > 0)
  }

  async schedules({ id, paused, cursor, limit, ...filter }: Query<'schedules'>): Promise<Page<StoredSchedule>> {
    // An id is checked like that of a session.
    const { tenants, owner, agent, session } = runFilterParams({ ...filter, session: id })
    const isPaused = paused === undefined ? null : Number(paused)
    return schedulePage({ cursor, limit }, (...after) =>
      this.#db.all(listSchedules, tenantsParam(tenants), owner, agent, session, isPaused, ...after, limit + 1),
    )
  }

  steps(scope: Query<'steps'>): Promise<RecordedStep[]> {
    return retryRead(async () => {
      const run = this.#findOne(scope)
      if (run === undefined) return []
      const { key, run: id } = operatedRunFromRow(run)
      return stepsOf(this.#blobs, key, id, this.#db.all(listSteps, ...runRowKey(scope)))
    })
  }

  #findOne(scope: { tenant: string; run: string }): Row | undefined {
    const sql = `select ${columns} from runs r where tenant = ?5 and run = ?6`
    return this.#db.get(sql, ...this.#params(null), ...runRowKey(scope))
  }

  #runsWhere(tenants: readonly string[] | null, condition: string, ...values: string[]): Row[] {
    const sql = `select ${columns} from runs r where ${isOfTenants} and ${condition} order by n desc limit ${maxFoundRuns}`
    return this.#db.all(sql, ...this.#params(tenants), ...values)
  }

  /** Returns the parameters from ?1 to ?4. */
  #params(tenants: readonly string[] | null) {
    return [tenantsParam(tenants), this.#clock.monotonic(), this.#clock.boot, this.#clock.now()] as const
  }
}

function tenantsParam(tenants: readonly string[] | null): string | null {
  return tenants && JSON.stringify(tenants)
}
