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

/** With the hash of the index. */
const isOfTenants =
  '($1::text[] is null or hashtextextended(tenant, 0) = any (array(select hashtextextended(t, 0) from unnest($1::text[]) t)) and tenant = any ($1))'

const sessionOfRun =
  's.tenant = r.tenant and s.owner = r.owner and s.agent = r.session_agent and s.id = r.session and s.run = r.run'

type Query<Method extends keyof RunOperations> = Parameters<RunOperations[Method]>[0]

/** Shows the durable runs in Postgres to operators. */
export class PostgresOperations implements RunOperations {
  readonly #db: Database
  readonly #blobs: Blobs
  /** SQL of a run's status, which is `lost` without a lease. */
  readonly #status: string
  readonly #columns: string

  constructor(db: Database, blobs: Blobs) {
    this.#db = db
    this.#blobs = blobs
    const heldUntil = `(select s.held_until from ${db.s}.sessions s where ${sessionOfRun})`
    this.#status = `case when r.status = 'running' and coalesce(${heldUntil}, 0) <= ${this.#now} then 'lost' else r.status end`
    this.#columns = `${operatedColumns}, ${this.#status} as status, worker, ${heldUntil} as held_until,
      (select at from ${db.s}.run_log l where l.run = r.n order by l.n limit 1) as added_at`
  }

  async now(): Promise<number> {
    return Math.floor(Number(await this.#db.call('now_ms')))
  }

  async list({ cursor, limit, ...filter }: Query<'list'>): Promise<Page<RunSummary>> {
    const { tenants, olderThan, ...fields } = runFilterParams(filter)
    const [beforeRow] = parseCursor(cursor, [Number.MAX_SAFE_INTEGER])
    const rows = await this.#select(
      `${isOfTenants} and ($2::text is null or ${this.#status} = $2) and ($3::text is null or agent = $3)
       and ($4::text is null or version = $4) and ($5::text is null or queue = $5) and ($6::text is null or owner = $6)
       and ($7::text is null or session = $7) and ($8::text is null or code = $8)
       and ($9::double precision is null or updated_at <= ${this.#now} - $9) and n < $10 order by n desc limit $11`,
      ...[tenants, ...Object.values(fields), olderThan, beforeRow, limit + 1],
    )
    return toPage(rows, limit, ({ n }) => [Number(n)], operatedRunFromRow)
  }

  async find({ run, tenants }: Query<'find'>): Promise<RunSummary[]> {
    const { tenants: names } = runFilterParams({ tenants })
    const id = checkName('id of the run', run)
    const runs = (matches: string) =>
      this.#select(`${isOfTenants} and ${matches} order by n desc limit ${maxFoundRuns}`, names, id)
    const exact = await runs('left(run, 64) = left($2, 64) and run = $2')
    // No character of an id is greater than the last one of Unicode.
    const range =
      'left(run, 64) >= left($2, 64) and left(run, 64) < left($2, 64) || chr(1114111) and starts_with(run, $2)'
    return (exact.length > 0 ? exact : await runs(range)).map(operatedRunFromRow)
  }

  async describe({ limit, ...scope }: Query<'describe'>): Promise<RunDescription | undefined> {
    const run = await this.#findOne(scope)
    if (run === undefined) return undefined
    const { s } = this.#db
    const session = [run.tenant, run.owner, run.session_agent, run.session, run.run]
    const isOfTurn = 'tenant = $1 and owner = $2 and agent = $3 and session = $4 and turn_id = $5'
    const [log, pending, [turn]] = await Promise.all([
      this.#db.queryIdempotent(
        `select * from ${s}.run_log where run = $1 order by n desc limit $2`,
        ...[run.n, limit + 1],
      ),
      this.#db.queryIdempotent(`select * from ${s}.pending_calls where ${isOfTurn} order by n`, ...session),
      this.#db.queryIdempotent(
        `select usage from ${s}.turns
         where ended_at is not null and hashtextextended(turn_id, 0) = hashtextextended($5, 0) and ${isOfTurn}`,
        ...session,
      ),
    ])
    return runDescription({ run, log, pending, turn }, limit)
  }

  async count({ tenants, open = false }: Query<'count'>): Promise<RunCount[]> {
    const { tenants: names } = runFilterParams({ tenants })
    // Queued and running runs are never reported, which an index covers.
    const isOpen = open ? "and not reported and r.status in ('queued', 'running')" : ''
    const rows = await this.#db.queryIdempotent(
      `select status, agent, version, queue, code, count(*) as count, min(since) as oldest from (
         select ${this.#status} as status, agent, version, queue, code, case r.status when 'queued' then run_at else updated_at end as since
         from ${this.#db.s}.runs r where ${isOfTenants} ${isOpen}
       ) c group by 1, 2, 3, 4, 5 order by 6 desc, 1, 2, 3, 4, 5 limit ${maxRunCounts}`,
      names,
    )
    return rows.map(runCountFromRow)
  }

  async forceStop(scope: Query<'forceStop'>, { code, reason }: { code: string; reason: string }): Promise<boolean> {
    return (await this.#db.callOnce('force_stop_run', ...runRowKey(scope), code, reason)) === true
  }

  async schedules({ id, paused, cursor, limit, ...filter }: Query<'schedules'>): Promise<Page<StoredSchedule>> {
    // An id is checked like that of a session.
    const { tenants, owner, agent, session } = runFilterParams({ ...filter, session: id })
    return schedulePage({ cursor, limit }, (...after) =>
      this.#db.queryIdempotent(
        `select * from ${this.#db.s}.schedules where ($1::text[] is null or tenant = any ($1)) and ($2::text is null or owner = $2)
         and ($3::text is null or agent = $3) and ($4::text is null or id = $4)
         and ($5::boolean is null or (paused is not null) = $5) and (tenant, owner, id) > ($6, $7, $8)
         order by tenant, owner, id limit $9`,
        ...[tenants, owner, agent, session, paused ?? null, ...after, limit + 1],
      ),
    )
  }

  steps(scope: Query<'steps'>): Promise<RecordedStep[]> {
    return retryRead(async () => {
      const run = await this.#findOne(scope)
      if (run === undefined) return []
      const { s } = this.#db
      const rows = await this.#db.queryIdempotent(
        `select s.id, s.body, s.sealed_as from ${s}.steps s left join ${s}.run_log l on l.run = $3 and l.kind = 'step' and l.detail = ${stepInLog('s')}
         where s.tenant = $1 and s.run = $2 order by l.n nulls first`,
        ...[run.tenant, run.run, run.n],
      )
      return stepsOf(this.#blobs, operatedRunFromRow(run).key, String(run.run), rows)
    })
  }

  /** SQL of the server's time. */
  get #now(): string {
    return `(select ${this.#db.s}.now_ms())`
  }

  async #findOne(scope: { tenant: string; run: string }): Promise<Row | undefined> {
    const [row] = await this.#select('tenant = $1 and run = $2', ...runRowKey(scope))
    return row
  }

  #select(condition: string, ...values: unknown[]): Promise<Row[]> {
    return this.#db.queryIdempotent(`select ${this.#columns} from ${this.#db.s}.runs r where ${condition}`, ...values)
  }
}
