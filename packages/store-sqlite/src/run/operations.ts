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
import type { Database, Row } from '../database/database.ts'
import type { SharedClock } from '../database/machine-clock.ts'
import { leaseMatches } from '../lease/leases.ts'
import { sessionJoin } from './run-rows.ts'

const isOfTenants = '(?1 is null or tenant in (select value from json_each(?1)))'

/** Milliseconds that the lease of a running run still has: ?2 is the monotonic time, and ?3 the boot of the machine. */
const remaining = `(select s.held_until - ?2 from sessions s where ${sessionJoin} and s.run = r.run and s.boot = ?3)`
const status = `iif(r.status = 'running' and coalesce(${remaining}, 0) <= 0, 'lost', r.status)`
/** ?4 is the time. */
const columns = `${operatedColumns}, ${status} as status, worker, iif(r.status = 'running', ?4 + ${remaining}, null) as held_until,
  (select at from run_log l where l.tenant = r.tenant and l.run = r.run order by l.n limit 1) as added_at`

/** Shows the durable runs in a SQLite file to operators. */
export function sqliteOperations(db: Database, clock: SharedClock, blobs: Blobs): RunOperations {
  const now = (tenants?: readonly string[] | null) =>
    [tenants == null ? null : JSON.stringify(tenants), clock.monotonic(), clock.boot, clock.now()] as const
  const findOne = (scope: { tenant: string; run: string }): Row | undefined =>
    db.get(`select ${columns} from runs r where tenant = ?5 and run = ?6`, ...now(), ...runRowKey(scope))
  return {
    now: async () => clock.now(),
    async list({ cursor, limit, ...filter }) {
      const { tenants, olderThan, ...fields } = runFilterParams(filter)
      const [beforeRow] = parseCursor(cursor, [Number.MAX_SAFE_INTEGER])
      const rows = db.all(
        `select ${columns} from runs r where ${isOfTenants} and (?5 is null or ${status} = ?5) and (?6 is null or agent = ?6)
         and (?7 is null or version = ?7) and (?8 is null or queue = ?8) and (?9 is null or owner = ?9)
         and (?10 is null or session = ?10) and (?11 is null or code = ?11) and (?12 is null or updated_at <= ?4 - ?12)
         and n < ?13 order by n desc limit ?14`,
        ...[...now(tenants), ...Object.values(fields), olderThan, beforeRow, limit + 1],
      )
      return toPage(rows, limit, ({ n }) => [Number(n)], operatedRunFromRow)
    },
    async find({ run, tenants }) {
      const { tenants: names } = runFilterParams({ tenants })
      const rows = (matches: string, ...values: string[]) =>
        db.all(
          `select ${columns} from runs r where ${isOfTenants} and ${matches} order by n desc limit ${maxFoundRuns}`,
          ...[...now(names), ...values],
        )
      const id = checkName('id of the run', run)
      const exact = rows('run = ?5', id)
      // No character of an id is greater.
      const found = exact.length > 0 ? exact : rows('run > ?5 and run < ?6', id, `${id}\u{10ffff}`)
      return found.map(operatedRunFromRow)
    },
    async describe({ limit, ...scope }) {
      const run = findOne(scope)
      if (run === undefined) return undefined
      const session = [run.tenant, run.owner, run.session_agent, run.session, run.run] as string[]
      const turn = 'tenant = ? and owner = ? and agent = ? and session = ? and turn_id = ?'
      const rows = {
        run,
        log: db.all(
          'select * from run_log where tenant = ? and run = ? order by n desc limit ?',
          ...[...runRowKey(scope), limit + 1],
        ),
        pending: db.all(`select * from pending_calls where ${turn} order by n`, ...session),
        turn: db.get(`select usage from turns where ended_at is not null and ${turn}`, ...session),
      }
      return runDescription(rows, limit)
    },
    async count({ tenants, open = false }) {
      const { tenants: names } = runFilterParams({ tenants })
      const rows = db.all(
        `select status, agent, version, queue, code, count(*) as count, min(since) as oldest from (
           select ${status} as status, agent, version, queue, code, iif(r.status = 'queued', run_at, updated_at) as since from runs r
           where ${isOfTenants} ${open ? "and r.status in ('queued', 'running')" : ''}
         ) group by 1, 2, 3, 4, 5 order by 6 desc, 1, 2, 3, 4, 5 limit ${maxRunCounts}`,
        ...now(names).slice(0, 3),
      )
      return rows.map(runCountFromRow)
    },
    async forceStop(scope, { code, reason }) {
      return db.write(() => {
        const row = db.get(
          `update runs set status = 'aborted', code = ?, reason = ?, updated_at = ?
           where tenant = ? and run = ? and status in ('queued', 'running') returning owner, session_agent, session`,
          ...[code, reason, clock.now(), ...runRowKey(scope)],
        )
        if (row === undefined) return false
        db.run(
          `update sessions set run = null, held_until = 0, token = -token where ${leaseMatches} and run = ?`,
          ...([scope.tenant, row.owner, row.session_agent, row.session, scope.run] as string[]),
        )
        return true
      })
    },
    async schedules({ id, paused, cursor, limit, ...filter }) {
      // An id is checked like that of a session.
      const { tenants, owner, agent, session } = runFilterParams({ ...filter, session: id })
      const [tenantsParam] = now(tenants)
      return schedulePage({ cursor, limit }, (...after) =>
        db.all(
          `select * from schedules where ${isOfTenants} and (?2 is null or owner = ?2) and (?3 is null or agent = ?3)
           and (?4 is null or id = ?4) and (?5 is null or (paused is not null) = ?5) and (tenant, owner, id) > (?6, ?7, ?8)
           order by tenant, owner, id limit ?9`,
          ...[tenantsParam, owner, agent, session, paused === undefined ? null : Number(paused), ...after, limit + 1],
        ),
      )
    },
    steps: (scope) =>
      retryRead(async () => {
        const run = findOne(scope)
        if (run === undefined) return []
        const sql = `select s.id, s.body, s.sealed_as from steps s left join run_log l on l.tenant = s.tenant and l.run = s.run
          and l.kind = 'step' and l.detail = s.id where s.tenant = ? and s.run = ? order by l.n`
        return stepsOf(blobs, operatedRunFromRow(run).key, String(run.run), db.all(sql, ...runRowKey(scope)))
      }),
  }
}
