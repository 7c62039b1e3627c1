import type { AddedRun, ClaimedRun, NewDurableRun, RunningAgent, RunStore, SessionKey } from '@allium/core'
import {
  type Blobs,
  busy,
  checkName,
  checkOwner,
  checkRunAt,
  checkTogether,
  cursorOf,
  fenced,
  keyReused,
  listedRun,
  notWaiting,
  openedClaims,
  openedExpired,
  pageOf,
  readAgain,
  runOf,
  runPlace,
  type Sealer,
  sealedStep,
  sealedTask,
  stepsOf,
} from '@allium/store-sql'
import { fencedWithout } from './blobs.ts'
import type { Database, Row } from './database.ts'
import { leaseOf, postgresLeases } from './leases.ts'
import { at, checkedKey, ofTenant } from './names.ts'
import type { Renames } from './renames.ts'

/** Durable runs and their steps in Postgres. */
export function postgresRuns(
  db: Database,
  { sealer, blobs, renames }: { sealer: Sealer; blobs: Blobs; renames: Renames },
): RunStore {
  const { renew } = postgresLeases(db, renames)
  return {
    sealed: sealer.encrypts,
    async add(run, options = {}) {
      const given = { ...run, key: checkedKey({ ...run.key }) }
      await renames.claim(given.key)
      return added(db, { sealer, blobs }, given, options)
    },
    async get(of) {
      return readAgain(async () => {
        const [row] = await db.repeatable(`select * from ${db.s}.runs where tenant = $1 and run = $2`, ...runPlace(of))
        return row === undefined ? undefined : runOf(blobs, row)
      })
    },
    async find(given, idempotencyKey) {
      const key = checkedKey({ ...given })
      await renames.claim(key)
      return readAgain(async () => {
        const [row] = await db.repeatable(
          `select * from ${db.s}.runs where tenant = $1 and owner = $2 and session_agent = $3 and session = $4
           and hashtextextended(idempotency_key, 0) = hashtextextended($5, 0) and idempotency_key = $5`,
          ...[...at(key), checkName('idempotency key', idempotencyKey)],
        )
        return row === undefined ? undefined : runOf(blobs, row)
      })
    },
    async list({ agents, status, cursor, limit, ...of }) {
      const { tenant, owner } = checkOwner(of)
      const [before] = cursorOf(cursor, [Number.MAX_SAFE_INTEGER])
      const rows = await db.repeatable(
        `select * from ${db.s}.runs where ${ofTenant('$1')} and ($2::text is null or owner = $2)
         and ($3::text is null or status = $3) and ($4::text[] is null or agent = any ($4)) and n < $5 order by n desc limit $6`,
        ...[tenant, owner ?? null, status ?? null, agents ?? null, before, limit + 1],
      )
      return pageOf(rows, limit, ({ n }) => [Number(n)], listedRun)
    },
    async claim({ agents, limit, ms, alone }) {
      const sql = `select * from ${db.s}.claim_runs($1, $2, $3, $4, $5)`
      return claimed(db, blobs, await db.once(sql, ...columnsOf(agents), limit, ms, alone))
    },
    async orphans({ agents, ms, lease, limit }) {
      const sql = `select * from ${db.s}.claim_orphans($1, $2, $3, $4, $5)`
      return claimed(db, blobs, await db.once(sql, ...columnsOf(agents), limit, ms, lease))
    },
    renew: (leases, ms) => Promise.all(leases.map((lease) => renew(lease, ms))),
    steps: ({ key }, run) =>
      readAgain(async () => {
        const sql = `select id, body, sealed_as from ${db.s}.steps where tenant = $1 and run = $2`
        return stepsOf(blobs, key, run, await db.repeatable(sql, key.tenant, run))
      }),
    async record(lease, run, step) {
      const { key, token } = lease
      const { body, cuts } = await sealedStep(sealer, key, run, step)
      const values = [...at(key), token, run, checkName('id of a step', step.id), body]
      await blobs.write(lease, cuts, async (write) => {
        const keep = write && `, case when r.held then ${db.s}.keep_blobs($1, $2, $3, $4, 'step', $6, $9, $10) end`
        const sql = `select r.held${keep ?? ''} from ${db.s}.record_step($1, $2, $3, $4, $5, $6, $7, $8) r (held)`
        const kept = db.repeatable(sql, ...values, ...(write === undefined ? [] : [write.id, write.digests]))
        const [row] = await fencedWithout(key, kept)
        if (row?.held !== true) throw fenced(key)
      })
    },
    async stop(of, reason) {
      const rows = await db.repeatable(
        `update ${db.s}.runs set stop = coalesce(stop, $3)
         where tenant = $1 and run = $2 and status in ('queued', 'running') returning n`,
        ...[...runPlace(of), reason],
      )
      return rows.length > 0
    },
    async giveUp({ key, token }, run, { status, code, reason }) {
      const sql = `select ${db.s}.give_up_run($1, $2, $3, $4, $5, $6, $7, $8, $9) as held`
      const [row] = await db.repeatable(sql, ...at(key), token, run, status, code, reason)
      if (row?.held !== true) throw fenced(key)
    },
    async retry(of) {
      const [row] = await db.once(`select ${db.s}.retry_run($1, $2) as queued`, ...runPlace(of))
      return row?.queued === true
    },
    async told({ key }, run) {
      await db.repeatable(`update ${db.s}.runs set told = true where tenant = $1 and run = $2`, key.tenant, run)
    },
    async expired({ agents, limit }) {
      const rows = await db.repeatable(
        `select r.*, w.calls from ${db.s}.runs r join (
           select tenant, owner, agent, session, turn_id, array_agg(call_id order by call_id) as calls from ${db.s}.waiting
           where expires_at <= ${db.s}.now_ms() group by tenant, owner, agent, session, turn_id
         ) w on r.tenant = w.tenant and r.run = w.turn_id and r.owner = w.owner and r.session_agent = w.agent and r.session = w.session
         where (r.agent, r.version) in (select * from unnest($1::text[], $2::text[])) order by r.n limit $3`,
        ...[...columnsOf(agents), limit],
      )
      return openedExpired(
        blobs,
        rows.map((row) => ({ row, callIds: row.calls as readonly string[] })),
      )
    },
    async expire({ olderThan }) {
      const [row] = await db.once(`select ${db.s}.forget_runs($1) as gone`, olderThan)
      await blobs.collect()
      return Number(row?.gone)
    },
  }
}

async function added(
  db: Database,
  { sealer, blobs }: { sealer: Sealer; blobs: Blobs },
  given: NewDurableRun,
  { claim = null, unlessBusy = null }: { claim?: number | null; unlessBusy?: number | null },
): Promise<AddedRun> {
  const { run, agent, version, runAt = null, idempotencyKey = null, asked = '', decides = [] } = given
  checkRunAt(given.runAt)
  const { key } = given
  checkTogether('tenant and id of the run', [key.tenant, checkName('id of the run', run)])
  for (const [what, name] of Object.entries({ agent, version, 'idempotency key': idempotencyKey ?? '' }))
    checkName(what, name)
  const { body, cuts } = await sealedTask(sealer, key, run, given.task)
  const digests = await sealer.digests(asked, key.tenant)
  const [row] = await blobs.write({ key }, cuts, (write) =>
    fencedWithout(
      key,
      db.repeatable(
        // An erasure waits for what is added just now, and finds it.
        `select a.*, case when a.outcome_ = 'added' then ${db.s}.keep_blobs($1, $2, $3, $4, 'task', $5, $15, $16) end
         from (select ${db.s}.writer_token($1, $2, null, null, null, null), ${db.s}.forget_erased($1, $2, $3, $4)) w,
         lateral ${db.s}.add_free_run($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) a`,
        ...[...at(key), run, agent, version, runAt, idempotencyKey, digests, decides, body, claim, unlessBusy],
        ...[write?.id ?? null, write?.digests ?? []],
      ),
    ),
  )
  const { outcome_: outcome, absent_: absent, n_: n, token_: token } = row ?? {}
  if (outcome === 'reused') throw keyReused(key, idempotencyKey ?? '', run)
  if (outcome === 'busy') throw busy(key, Math.ceil(Number(row?.held_until_)))
  if (outcome === 'absent') throw notWaiting(key, absent as string[])
  // The run may have ended or been erased since, with the blobs of its task.
  const added = await readAgain(async () => {
    const [stands] = await db.repeatable(`select * from ${db.s}.runs where n = $1`, n)
    if (stands === undefined) throw fenced(key)
    return runOf(blobs, stands)
  })
  const result = { run: added, isNew: outcome === 'added' }
  return typeof token === 'string' || typeof token === 'number'
    ? { ...result, lease: leaseOf(db, key, row as Row) }
    : result
}

/** The runs that were taken, as they stand now. Of those that nobody hears of the leases end. */
async function claimed(db: Database, blobs: Blobs, taken: readonly Row[]): Promise<ClaimedRun[]> {
  if (taken.length === 0) return []
  const sql = `select * from ${db.s}.runs where n = any ($1::bigint[]) order by n`
  const rows = await db.repeatable(
    sql,
    taken.map(({ n_ }) => n_),
  )
  const found = rows.map((row) => {
    const lease = leaseOf(db, listedRun(row).key, taken.find(({ n_ }) => n_ === row.n) as Row)
    return { row, lease }
  })
  return openedClaims(blobs, found, ({ key, token }, run) => givenBack(db, key, token, run))
}

/** As if it had not been taken: nothing of it was begun. */
async function givenBack(db: Database, key: SessionKey, token: number, run: string): Promise<void> {
  await db.repeatable(
    `with freed as (
       update ${db.s}.sessions set held_until = 0
       where tenant = $1 and owner = $2 and agent = $3 and id = $4 and token = $5 and held_until > 0 returning 1
     ) update ${db.s}.runs set attempts = greatest(attempts - 1, 0)
     where tenant = $1 and run = $6 and token = $5 and status in ('queued', 'running') and exists (select from freed)`,
    ...[...at(key), token, run],
  )
}

function columnsOf(agents: readonly RunningAgent[]): [names: string[], versions: string[]] {
  return [agents.map(({ name }) => name), agents.map(({ version }) => version)]
}
