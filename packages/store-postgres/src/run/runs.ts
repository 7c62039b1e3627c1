import type { Lease } from '@allium/core'
import {
  type AddedRun,
  type AddOptions,
  type ClaimedRun,
  type DurableRun,
  fenced,
  type NewDurableRun,
  type RunningAgent,
  type RunStore,
} from '@allium/store'
import {
  type Blobs,
  checkName,
  checkOwner,
  checkQueue,
  checkRunAt,
  idempotencyKeyReused,
  notPending,
  type OverdueScans,
  openClaims,
  openOverdueCalls,
  parseCursor,
  readRun,
  retentionByStatus,
  retryRead,
  runRowKey,
  runSummary,
  type Sealer,
  sealStep,
  sealTask,
  sessionBusy,
  stepsOf,
  toPage,
} from '@allium/store-sql'
import { translateLostBlobs } from '../blob/blobs.ts'
import { checkCombinedLength } from '../database/combined-length.ts'
import type { Database, Row } from '../database/database.ts'
import { checkSessionKey, keyParams, tenantMatches } from '../database/keys.ts'
import { issueLease, postgresLeases } from '../lease/leases.ts'

/** Durable runs and their steps in Postgres. */
export function postgresRuns(db: Database, { sealer, blobs }: { sealer: Sealer; blobs: Blobs }): RunStore {
  const { renew } = postgresLeases(db)
  const overdueScans: OverdueScans = new Map()
  return {
    sealed: sealer.encrypts,
    async add(run, options = {}) {
      const input = { ...run, key: checkSessionKey({ ...run.key }) }
      return addRun(db, { sealer, blobs }, input, options)
    },
    async get(scope) {
      const sql = `select * from ${db.s}.runs where tenant = $1 and run = $2`
      return readRun(blobs, async () => (await db.queryIdempotent(sql, ...runRowKey(scope)))[0])
    },
    async find(input, idempotencyKey) {
      const key = checkSessionKey({ ...input })
      const sql = `select * from ${db.s}.runs where tenant = $1 and owner = $2 and session_agent = $3 and session = $4
        and hashtextextended(idempotency_key, 0) = hashtextextended($5, 0) and idempotency_key = $5`
      const values = [...keyParams(key), checkName('idempotency key', idempotencyKey)]
      return readRun(blobs, async () => (await db.queryIdempotent(sql, ...values))[0])
    },
    async list({ agents, status, code, cursor, limit, ...scope }) {
      const { tenant, owner } = checkOwner(scope)
      const [beforeRow] = parseCursor(cursor, [Number.MAX_SAFE_INTEGER])
      const rows = await db.queryIdempotent(
        `select * from ${db.s}.runs where ${tenantMatches('$1')} and ($2::text is null or owner = $2)
         and ($3::text is null or status = $3) and ($4::text[] is null or agent = any ($4)) and ($5::text is null or code = $5)
         and n < $6 order by n desc limit $7`,
        ...[tenant, owner ?? null, status ?? null, agents ?? null, code ?? null, beforeRow, limit + 1],
      )
      return toPage(rows, limit, ({ n }) => [Number(n)], runSummary)
    },
    async claim({ agents, limit, ms, alone, queues = [{ name: 'default' }], waitingOnly = false, worker }) {
      const sql = `select * from ${db.s}.claim_runs($1, $2, $3, $4, $5, $6, $7, $8)`
      return openClaimed(db, blobs, { limit, ms, alone }, (page) =>
        db.queryOnce(
          sql,
          ...agentColumns(agents),
          page.limit,
          ms,
          page.alone,
          JSON.stringify(queues),
          waitingOnly,
          worker ?? null,
        ),
      )
    },
    async orphans({ agents, ms, lease, limit }) {
      const sql = `select * from ${db.s}.claim_orphans($1, $2, $3, $4, $5)`
      return openClaimed(db, blobs, { limit, ms: lease }, (page) =>
        db.queryOnce(sql, ...agentColumns(agents), page.limit, ms, lease),
      )
    },
    renew: (leases, ms) => Promise.all(leases.map((lease) => renew(lease, ms))),
    steps: ({ key }, run) =>
      retryRead(async () => {
        const sql = `select id, body, sealed_as from ${db.s}.steps where tenant = $1 and run = $2`
        return stepsOf(blobs, key, run, await db.queryIdempotent(sql, key.tenant, run))
      }),
    async record(lease, run, step) {
      const { key, token } = lease
      const { body, cuts: blobSources } = await sealStep(sealer, key, run, step)
      const values = [...keyParams(key), token, run, checkName('id of a step', step.id), body]
      await blobs.write(lease, blobSources, async (write) => {
        const keep = write && `, case when r.held then ${db.s}.keep_blobs($1, $2, $3, $4, 'step', $6, $9, $10) end`
        const sql = `select r.held${keep ?? ''} from ${db.s}.record_step($1, $2, $3, $4, $5, $6, $7, $8) r (held)`
        const kept = db.queryIdempotent(sql, ...values, ...(write === undefined ? [] : [write.id, write.digests]))
        const [row] = await translateLostBlobs(key, kept)
        if (row?.held !== true) throw fenced(key)
      })
    },
    async stop(scope, reason) {
      const rows = await db.queryIdempotent(
        `update ${db.s}.runs set stop = coalesce(stop, $3)
         where tenant = $1 and run = $2 and status in ('queued', 'running') returning n`,
        ...[...runRowKey(scope), reason],
      )
      return rows.length > 0
    },
    release: (lease, run) => releaseClaim(db, lease, run),
    async giveUp({ key, token }, run, { status, code, reason }) {
      const sql = `select ${db.s}.give_up_run($1, $2, $3, $4, $5, $6, $7, $8, $9) as held`
      const [row] = await db.queryIdempotent(sql, ...keyParams(key), token, run, status, code, reason)
      if (row?.held !== true) throw fenced(key)
    },
    async retry(scope) {
      const [row] = await db.queryOnce(`select ${db.s}.retry_run($1, $2) as queued`, ...runRowKey(scope))
      return row?.queued === true
    },
    async migrate(scope, { from, to }) {
      const sql = `select ${db.s}.migrate_run($1, $2, $3, $4) as moved`
      const [row] = await db.queryOnce(sql, ...runRowKey(scope), from, to)
      return row?.moved === true
    },
    async markReported({ key, token }, run, code) {
      await db.queryIdempotent(
        `update ${db.s}.runs set reported = true, code = case status when 'failed' then coalesce($4, code) else code end
         where tenant = $1 and run = $2 and token = $3 and status not in ('queued', 'running')`,
        ...[key.tenant, run, token, code ?? null],
      )
    },
    async expiredCalls({ agents, limit }) {
      const sql = `select r.*, w.calls from ${db.s}.runs r join (
           select tenant, owner, agent, session, turn_id, array_agg(call_id order by call_id) as calls from ${db.s}.pending_calls
           where expires_at <= ${db.s}.now_ms() group by tenant, owner, agent, session, turn_id
         ) w on r.tenant = w.tenant and r.run = w.turn_id and r.owner = w.owner and r.session_agent = w.agent and r.session = w.session
         where r.agent = any ($1::text[]) and r.n > $2 order by r.n limit $3`
      const names = agents.map(({ name }) => name)
      return openOverdueCalls(blobs, { agents, limit, scans: overdueScans }, async (after) => {
        const rows = await db.queryIdempotent(sql, names, after, limit)
        return rows.map((row) => ({ row, callIds: row.calls as readonly string[] }))
      })
    },
    async expire({ olderThan }) {
      const retention = retentionByStatus(olderThan)
      const rows = await db.queryOnce(
        `select e.* from ${db.s}.forget_turns() f left join lateral ${db.s}.expire_runs($1, $2) e on true`,
        retention.map(([status]) => status),
        retention.map(([, ms]) => ms),
      )
      await blobs.collect()
      const deleted = rows.filter(({ status }) => status !== null)
      return Object.fromEntries(deleted.map(({ status, gone }) => [status, Number(gone)]))
    },
  }
}

/** @param checkFirst returns a call that runs in the same statement; nothing is stored if it fails. It gets the number of its first parameter */
export async function addRun(
  db: Database,
  { sealer, blobs }: { sealer: Sealer; blobs: Blobs },
  input: NewDurableRun,
  { claim, worker, unlessBusy, limits = {}, agents }: AddOptions,
  checkFirst?: (firstParam: number) => { sql: string; values: readonly unknown[] },
): Promise<AddedRun> {
  const { run, agent, version, runAt = null, idempotencyKey = null, fingerprint = '', resolvedCalls = [] } = input
  checkRunAt(input.runAt)
  const { key } = input
  const { queue, priority } = checkQueue(input)
  checkCombinedLength('tenant and id of the run', [key.tenant, checkName('id of the run', run)])
  for (const [what, name] of Object.entries({ agent, version, 'idempotency key': idempotencyKey ?? '' }))
    checkName(what, name)
  const { body, cuts: blobSources } = await sealTask(sealer, key, run, input.task)
  // Only runs with a key are compared.
  const digests = idempotencyKey === null ? [''] : await sealer.digests(fingerprint, key.tenant)
  const first = checkFirst?.(22)
  const [row] = await blobs.write({ key }, blobSources, (write) =>
    translateLostBlobs(
      key,
      db.queryIdempotent(
        `select a.*, case when a.outcome_ = 'added' then ${db.s}.keep_blobs($1, $2, $3, $4, 'task', $5, $20, $21) end
         from ${first ? `(select ${first.sql}) first, lateral ` : ''}${db.s}.add_run($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19) a`,
        ...[
          ...keyParams(key),
          run,
          agent,
          version,
          runAt,
          idempotencyKey,
          digests,
          resolvedCalls,
          body,
          claim ?? null,
          unlessBusy ?? null,
        ],
        ...[queue, priority, JSON.stringify(limits), agents ?? [agent], worker ?? null],
        ...[write?.id ?? null, write?.digests ?? [], ...(first?.values ?? [])],
      ),
    ),
  )
  const { outcome_: outcome, absent_: missing, n_: n, token_: token } = row ?? {}
  if (outcome === 'reused') throw idempotencyKeyReused(key, idempotencyKey ?? '', run)
  if (outcome === 'busy') throw sessionBusy(key, Math.ceil(Number(row?.held_until_)))
  if (outcome === 'absent') throw notPending(key, missing as string[])
  const sql = `select * from ${db.s}.runs where n = $1`
  const find = async () => (await db.queryIdempotent(sql, n))[0]
  const isClaimed = typeof token === 'string' || typeof token === 'number'
  // The run may have ended or been erased since, with the blobs of its task. A run that was claimed here needs no other copy of its task.
  const added = isClaimed ? withTask(await find(), input.task) : await readRun(blobs, find)
  if (added === undefined) throw fenced(key)
  const result = { run: added, isNew: outcome === 'added' }
  return isClaimed ? { ...result, lease: issueLease(db, key, row as Row) } : result
}

function withTask(row: Row | undefined, task: unknown): DurableRun | undefined {
  return row && { ...runSummary(row), task }
}

/** Claims runs, and returns their current state. The leases of runs that it does not return are released or expire. */
function openClaimed(
  db: Database,
  blobs: Blobs,
  of: { limit: number; ms: number; alone?: boolean },
  claim: (of: { limit: number; alone: boolean }) => Promise<Row[]>,
): Promise<ClaimedRun[]> {
  const query = async (page: { limit: number; alone: boolean }) => {
    const claimed = await claim(page)
    if (claimed.length === 0) return []
    const sql = `select * from ${db.s}.runs where n = any ($1::bigint[]) order by array_position($1::bigint[], n)`
    const rows = await db.queryIdempotent(
      sql,
      claimed.map(({ n_ }) => n_),
    )
    return rows.map((row) => {
      const lease = issueLease(db, runSummary(row).key, claimed.find(({ n_ }) => n_ === row.n) as Row)
      return { row, lease }
    })
  }
  return openClaims(blobs, of, query, (lease, run) => releaseClaim(db, lease, run))
}

/** Releases a claim as if it had not happened. */
async function releaseClaim(db: Database, { key, token }: Lease, run: string): Promise<void> {
  await db.queryIdempotent(
    `with freed as (
       update ${db.s}.sessions set held_until = 0
       where tenant = $1 and owner = $2 and agent = $3 and id = $4 and token = $5 and held_until > 0 returning 1
     ) update ${db.s}.runs set attempts = greatest(attempts - 1, 0) from freed
     where tenant = $1 and run = $6 and token = $5 and status in ('queued', 'running')`,
    ...[...keyParams(key), token, run],
  )
}

function agentColumns(agents: readonly RunningAgent[]): [names: string[], versions: string[]] {
  return [agents.map(({ name }) => name), agents.map(({ version }) => version)]
}
