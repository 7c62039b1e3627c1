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
import type { SharedClock } from './machine-clock.ts'

const isOfTenants = '(?1 is null or tenant in (select value from json_each(?1)))'

/** Shows the durable runs in a SQLite file to operators. */
export function sqliteOperations(db: Database, clock: SharedClock, blobs: Blobs): RunOperations {
  return {
    now: async () => clock.now(),
    async list({ cursor, limit, ...filter }) {
      const { tenants, status, agent, version, code, olderThan } = runFilterParams(filter)
      const [beforeRow] = parseCursor(cursor, [Number.MAX_SAFE_INTEGER])
      const rows = db.all(
        `select ${operatedColumns} from runs where ${isOfTenants} and (?2 is null or status = ?2) and (?3 is null or agent = ?3)
         and (?4 is null or version = ?4) and (?5 is null or code = ?5) and (?6 is null or updated_at <= ?6) and n < ?7
         order by n desc limit ?8`,
        ...[tenantsParam(tenants), status, agent, version, code],
        ...[olderThan === null ? null : clock.now() - olderThan, beforeRow, limit + 1],
      )
      return toPage(rows, limit, ({ n }) => [Number(n)], operatedRunFromRow)
    },
    async find({ run, tenants }) {
      const { tenants: names } = runFilterParams({ tenants })
      const sql = `select ${operatedColumns} from runs where ${isOfTenants} and run = ?2 limit 2`
      return db.all(sql, tenantsParam(names), checkName('id of the run', run)).map(operatedRunFromRow)
    },
    async describe({ limit, ...scope }) {
      const key = runRowKey(scope)
      const run = db.get(`select ${operatedColumns} from runs where tenant = ? and run = ?`, ...key)
      if (run === undefined) return undefined
      const session = [run.tenant, run.owner, run.session_agent, run.session, run.run] as string[]
      const turn = 'tenant = ? and owner = ? and agent = ? and session = ? and turn_id = ?'
      const rows = {
        run,
        log: db.all('select * from run_log where tenant = ? and run = ? order by n desc limit ?', ...key, limit + 1),
        waiting: db.all(`select * from waiting where ${turn} order by since`, ...session),
        turn: db.get(`select usage from turns where ended_at is not null and ${turn}`, ...session),
      }
      return runDescription(rows, limit)
    },
    async count({ tenants, open = false }) {
      const { tenants: names } = runFilterParams({ tenants })
      const rows = db.all(
        `select status, agent, version, queue, code, count(*) as count, min(iif(status = 'queued', run_at, updated_at)) as oldest from runs
         where ${isOfTenants} ${open ? "and status in ('queued', 'running')" : ''} group by status, agent, version, queue, code
         order by count(*) desc, status, agent, version, queue, code limit ${maxRunCounts}`,
        tenantsParam(names),
      )
      return rows.map(runCountFromRow)
    },
    steps: (scope) =>
      retryRead(async () => {
        const key = runRowKey(scope)
        const run = db.get(`select ${operatedColumns} from runs where tenant = ? and run = ?`, ...key)
        if (run === undefined) return []
        const sql = `select s.id, s.body, s.sealed_as from steps s left join run_log l on l.tenant = s.tenant and l.run = s.run
          and l.kind = 'step' and l.detail = s.id where s.tenant = ? and s.run = ? order by l.n`
        return stepsOf(blobs, operatedRunFromRow(run).key, String(run.run), db.all(sql, ...key))
      }),
  }
}

function tenantsParam(tenants: readonly string[] | null): string | null {
  return tenants === null ? null : JSON.stringify(tenants)
}
