import type { RunOperations } from '@allium/store'
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
  stepsOf,
  toPage,
} from '@allium/store-sql'
import type { Database } from '../database/database.ts'

/** With the hash of the index. */
const isOfTenants =
  '($1::text[] is null or hashtextextended(tenant, 0) = any (array(select hashtextextended(t, 0) from unnest($1::text[]) t)) and tenant = any ($1))'

const sessionOfRun =
  's.tenant = r.tenant and s.owner = r.owner and s.agent = r.session_agent and s.id = r.session and s.run = r.run'

/** Shows the durable runs in Postgres to operators. */
export function postgresOperations(db: Database, blobs: Blobs): RunOperations {
  const now = `(select ${db.s}.now_ms())`
  const heldUntil = `(select s.held_until from ${db.s}.sessions s where ${sessionOfRun})`
  const status = `case when r.status = 'running' and coalesce(${heldUntil}, 0) <= ${now} then 'lost' else r.status end`
  const columns = `${operatedColumns}, ${status} as status, worker, ${heldUntil} as held_until,
    (select at from ${db.s}.run_log l where l.tenant = r.tenant and l.run = r.run order by l.n limit 1) as added_at`
  const row = (scope: { tenant: string; run: string }) =>
    db.queryIdempotent(`select ${columns} from ${db.s}.runs r where tenant = $1 and run = $2`, ...runRowKey(scope))
  return {
    async now() {
      const [row] = await db.queryIdempotent(`select ${db.s}.now_ms() as now`)
      return Math.floor(Number(row?.now))
    },
    async list({ cursor, limit, ...filter }) {
      const { tenants, olderThan, ...fields } = runFilterParams(filter)
      const [beforeRow] = parseCursor(cursor, [Number.MAX_SAFE_INTEGER])
      const rows = await db.queryIdempotent(
        `select ${columns} from ${db.s}.runs r where ${isOfTenants} and ($2::text is null or ${status} = $2) and ($3::text is null or agent = $3)
         and ($4::text is null or version = $4) and ($5::text is null or queue = $5) and ($6::text is null or owner = $6)
         and ($7::text is null or session = $7) and ($8::text is null or code = $8)
         and ($9::double precision is null or updated_at <= ${now} - $9) and n < $10 order by n desc limit $11`,
        ...[tenants, ...Object.values(fields), olderThan, beforeRow, limit + 1],
      )
      return toPage(rows, limit, ({ n }) => [Number(n)], operatedRunFromRow)
    },
    async find({ run, tenants }) {
      const { tenants: names } = runFilterParams({ tenants })
      const rows = (matches: string) =>
        db.queryIdempotent(
          `select ${columns} from ${db.s}.runs r where ${isOfTenants} and ${matches} order by n desc limit ${maxFoundRuns}`,
          ...[names, checkName('id of the run', run)],
        )
      const exact = await rows('left(run, 64) = left($2, 64) and run = $2')
      // No character of an id is greater than the last one of Unicode.
      const range =
        'left(run, 64) >= left($2, 64) and left(run, 64) < left($2, 64) || chr(1114111) and starts_with(run, $2)'
      return (exact.length > 0 ? exact : await rows(range)).map(operatedRunFromRow)
    },
    async describe({ limit, ...scope }) {
      const [run] = await row(scope)
      if (run === undefined) return undefined
      const session = [run.tenant, run.owner, run.session_agent, run.session, run.run]
      const turn = `tenant = $1 and owner = $2 and agent = $3 and session = $4 and turn_id = $5`
      const [log, pending, [stored]] = await Promise.all([
        db.queryIdempotent(
          `select * from ${db.s}.run_log where tenant = $1 and run = $2 order by n desc limit $3`,
          ...[run.tenant, run.run, limit + 1],
        ),
        db.queryIdempotent(`select * from ${db.s}.pending_calls where ${turn} order by n`, ...session),
        db.queryIdempotent(
          `select usage from ${db.s}.turns
           where ended_at is not null and hashtextextended(turn_id, 0) = hashtextextended($5, 0) and ${turn}`,
          ...session,
        ),
      ])
      return runDescription({ run, log, pending, turn: stored }, limit)
    },
    async count({ tenants, open = false }) {
      const { tenants: names } = runFilterParams({ tenants })
      // Queued and running runs are never reported, which an index covers.
      const isOpen = open ? "and not reported and r.status in ('queued', 'running')" : ''
      const rows = await db.queryIdempotent(
        `select status, agent, version, queue, code, count(*) as count, min(since) as oldest from (
           select ${status} as status, agent, version, queue, code, case r.status when 'queued' then run_at else updated_at end as since
           from ${db.s}.runs r where ${isOfTenants} ${isOpen}
         ) c group by 1, 2, 3, 4, 5 order by 6 desc, 1, 2, 3, 4, 5 limit ${maxRunCounts}`,
        names,
      )
      return rows.map(runCountFromRow)
    },
    async forceStop(scope, { code, reason }) {
      const sql = `select ${db.s}.force_stop_run($1, $2, $3, $4) as ended`
      const [row] = await db.queryOnce(sql, ...runRowKey(scope), code, reason)
      return row?.ended === true
    },
    async schedules({ id, paused, cursor, limit, ...filter }) {
      // An id is checked like that of a session.
      const { tenants, owner, agent, session } = runFilterParams({ ...filter, session: id })
      return schedulePage({ cursor, limit }, (...after) =>
        db.queryIdempotent(
          `select * from ${db.s}.schedules where ($1::text[] is null or tenant = any ($1)) and ($2::text is null or owner = $2)
           and ($3::text is null or agent = $3) and ($4::text is null or id = $4)
           and ($5::boolean is null or (paused is not null) = $5) and (tenant, owner, id) > ($6, $7, $8)
           order by tenant, owner, id limit $9`,
          ...[tenants, owner, agent, session, paused ?? null, ...after, limit + 1],
        ),
      )
    },
    steps: (scope) =>
      retryRead(async () => {
        const [run] = await row(scope)
        if (run === undefined) return []
        const rows = await db.queryIdempotent(
          `select s.id, s.body, s.sealed_as from ${db.s}.steps s left join ${db.s}.run_log l on l.tenant = s.tenant and l.run = s.run
           and l.kind = 'step' and l.detail = s.id where s.tenant = $1 and s.run = $2 order by l.n nulls first`,
          ...[run.tenant, run.run],
        )
        return stepsOf(blobs, operatedRunFromRow(run).key, String(run.run), rows)
      }),
  }
}
