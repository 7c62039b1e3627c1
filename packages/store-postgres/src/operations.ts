import type { RunOperations } from '@allium/store'
import {
  type Blobs,
  checkName,
  maxRunCounts,
  operatedColumns,
  operatedRunFromRow,
  parseCursor,
  retryRead,
  runCountFromRow,
  runDescription,
  runFilterParams,
  runRowKey,
  stepsOf,
  toPage,
} from '@allium/store-sql'
import type { Database } from './database.ts'

/** With the hash of the index. */
const isOfTenants =
  '($1::text[] is null or hashtextextended(tenant, 0) = any (array(select hashtextextended(t, 0) from unnest($1::text[]) t)) and tenant = any ($1))'

/** Shows the durable runs in Postgres to operators. */
export function postgresOperations(db: Database, blobs: Blobs): RunOperations {
  const row = (scope: { tenant: string; run: string }) =>
    db.queryIdempotent(
      `select ${operatedColumns} from ${db.s}.runs where tenant = $1 and run = $2`,
      ...runRowKey(scope),
    )
  return {
    async now() {
      const [row] = await db.queryIdempotent(`select ${db.s}.now_ms() as now`)
      return Math.floor(Number(row?.now))
    },
    async list({ cursor, limit, ...filter }) {
      const { tenants, status, agent, version, code, olderThan } = runFilterParams(filter)
      const [beforeRow] = parseCursor(cursor, [Number.MAX_SAFE_INTEGER])
      const rows = await db.queryIdempotent(
        `select ${operatedColumns} from ${db.s}.runs where ${isOfTenants} and ($2::text is null or status = $2) and ($3::text is null or agent = $3)
         and ($4::text is null or version = $4) and ($5::text is null or code = $5)
         and ($6::double precision is null or updated_at <= (select ${db.s}.now_ms()) - $6) and n < $7 order by n desc limit $8`,
        ...[tenants, status, agent, version, code, olderThan, beforeRow, limit + 1],
      )
      return toPage(rows, limit, ({ n }) => [Number(n)], operatedRunFromRow)
    },
    async find({ run, tenants }) {
      const { tenants: names } = runFilterParams({ tenants })
      const rows = await db.queryIdempotent(
        `select ${operatedColumns} from ${db.s}.runs where ${isOfTenants} and hashtextextended(run, 0) = hashtextextended($2, 0) and run = $2 limit 2`,
        ...[names, checkName('id of the run', run)],
      )
      return rows.map(operatedRunFromRow)
    },
    async describe({ limit, ...scope }) {
      const [run] = await row(scope)
      if (run === undefined) return undefined
      const session = [run.tenant, run.owner, run.session_agent, run.session, run.run]
      const turn = `tenant = $1 and owner = $2 and agent = $3 and session = $4 and turn_id = $5`
      const [log, waiting, [stored]] = await Promise.all([
        db.queryIdempotent(
          `select * from ${db.s}.run_log where tenant = $1 and run = $2 order by n desc limit $3`,
          ...[run.tenant, run.run, limit + 1],
        ),
        db.queryIdempotent(`select * from ${db.s}.waiting where ${turn} order by since`, ...session),
        db.queryIdempotent(
          `select usage from ${db.s}.turns
           where ended_at is not null and hashtextextended(turn_id, 0) = hashtextextended($5, 0) and ${turn}`,
          ...session,
        ),
      ])
      return runDescription({ run, log, waiting, turn: stored }, limit)
    },
    async count({ tenants, open = false }) {
      const { tenants: names } = runFilterParams({ tenants })
      // Queued and running runs are never reported, which an index covers.
      const isOpen = open ? "and not told and status in ('queued', 'running')" : ''
      const rows = await db.queryIdempotent(
        `select status, agent, version, queue, code, count(*) as count, min(case status when 'queued' then run_at else updated_at end) as oldest
         from ${db.s}.runs where ${isOfTenants} ${isOpen} group by status, agent, version, queue, code
         order by count(*) desc, status, agent, version, queue, code limit ${maxRunCounts}`,
        names,
      )
      return rows.map(runCountFromRow)
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
