import type { Lease, SessionKey } from '@allium/core'
import {
  type AddedRun,
  type AddOptions,
  type DurableRun,
  type EndedStatus,
  fenced,
  type NewDurableRun,
  type RunStore,
} from '@allium/store'
import {
  type Blobs,
  type BlobWrite,
  checkKey,
  checkName,
  checkOwner,
  checkQueue,
  checkRunAt,
  idempotencyKeyReused,
  notPending,
  parseCursor,
  priorityStep,
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
import type { SqliteBlobs } from '../blob/blobs.ts'
import type { Database, Row } from '../database/database.ts'
import type { SharedClock } from '../database/machine-clock.ts'
import { keyParams, type Leases, leaseMatches } from '../lease/leases.ts'
import { logEntry } from '../schema/runs.ts'
import { forgetTurns, QueueRoom } from './queue-room.ts'
import { RunClaimer } from './run-claimer.ts'
import { WaitingRuns } from './waiting-runs.ts'

/** Stores a step if its run holds its session. */
const recordStep = `insert or ignore into steps select ?, ?, ?, ?, ?, ? from sessions
  where ${leaseMatches} and token = ? and run = ? and boot = ? and held_until > ?`

/** Durable runs and their steps in a SQLite file. */
export function sqliteRuns(
  db: Database,
  clock: SharedClock,
  parts: { leases: Leases; sealer: Sealer; blobs: Blobs; blobTable: SqliteBlobs },
): RunStore {
  const { leases, sealer, blobs, blobTable } = parts
  const runs = new RunTable(db, clock, parts)
  const claims = new RunClaimer(db, clock, leases, blobs)
  return {
    sealed: sealer.encrypts,
    async add(run, options = {}) {
      const input = { ...run, key: checkKey({ ...run.key }) }
      return runs.add(input, options)
    },
    get: async (filter) => runs.get(...runRowKey(filter)),
    async find(key, idempotencyKey) {
      return runs.find(checkKey(key), idempotencyKey)
    },
    list: async (filter) => runs.list(checkOwner(filter)),
    claim: (filter) => claims.claim(filter),
    renew: (input, ms) => Promise.all(input.map((lease) => leases.renew(lease, ms))),
    steps: ({ key }, run) =>
      retryRead(async () => {
        const rows = db.all('select id, body, sealed_as from steps where tenant = ? and run = ?', key.tenant, run)
        return stepsOf(blobs, key, run, rows)
      }),
    async record(lease, run, step) {
      const { body, cuts: blobSources } = await sealStep(sealer, lease.key, run, step)
      await blobs.write(lease, blobSources, (write) =>
        db.writeInGroup(() => {
          const { key, token } = lease
          const { tenant, agent } = key
          const held = [...keyParams(key), token, run, clock.boot, clock.monotonic()]
          // A step that was recorded before is not recorded again.
          if (db.run(recordStep, tenant, run, step.id, token, body, agent, ...held) === 0) runs.checkHeld(lease, run)
          else db.run(logEntry('step'), tenant, run, clock.now(), step.id)
          blobTable.assignHolder(lease.key, 'step', run, write)
        }),
      )
    },
    async stop(filter, reason) {
      const live = `tenant = ? and run = ? and status in ('queued', 'running')`
      const key = runRowKey(filter)
      return db.write(() => {
        if (db.run(`update runs set stop = ? where stop is null and ${live}`, reason, ...key) === 0)
          return db.get(`select 1 from runs where ${live}`, ...key) !== undefined
        db.run(logEntry('stop'), ...key, clock.now(), null)
        return true
      })
    },
    release: async (lease, run) => claims.release(lease, run),
    giveUp: async (lease, run, why) => runs.giveUp(lease, run, why),
    retry: async (filter) => runs.retry(...runRowKey(filter)),
    migrate: async (filter, versions) => runs.migrate(...runRowKey(filter), versions),
    async markReported({ key, token }, run, code) {
      const hasEnded = `status not in ('queued', 'running')`
      db.run(
        `update runs set reported = 1, code = iif(status = 'failed', coalesce(?, code), code)
         where tenant = ? and run = ? and token = ? and ${hasEnded}`,
        ...[code ?? null, key.tenant, run, token],
      )
    },
    orphans: (filter) => claims.orphans(filter),
    expiredCalls: (filter) => claims.expired(filter),
    async expire({ olderThan }) {
      const deletedCount = runs.expire(olderThan)
      await blobs.collect()
      return deletedCount
    },
  }
}

/** The rows of durable runs. */
export class RunTable {
  readonly #db: Database
  readonly #clock: SharedClock
  readonly #leases: Leases
  readonly #sealer: Sealer
  readonly #blobs: Blobs
  readonly #blobTable: SqliteBlobs
  readonly #waiting: WaitingRuns

  constructor(
    db: Database,
    clock: SharedClock,
    { leases, sealer, blobs, blobTable }: { leases: Leases; sealer: Sealer; blobs: Blobs; blobTable: SqliteBlobs },
  ) {
    this.#db = db
    this.#clock = clock
    this.#leases = leases
    this.#sealer = sealer
    this.#blobs = blobs
    this.#blobTable = blobTable
    this.#waiting = new WaitingRuns(db, clock)
  }

  /** @param checkFirst runs in the same transaction; nothing is stored if it throws */
  async add(input: NewDurableRun, options: AddOptions, checkFirst: () => void = () => {}): Promise<AddedRun> {
    const { key, run, fingerprint = '' } = input
    const { unlessBusy } = options
    checkRunAt(input.runAt)
    checkQueue(input)
    const { body, cuts: blobSources } = await sealTask(this.#sealer, key, run, input.task)
    // Only runs with a key are compared.
    const digests = input.idempotencyKey === undefined ? [] : await this.#sealer.digests(fingerprint, key.tenant)
    const add = (write: BlobWrite | undefined): { row: Row; isNew: boolean; lease?: Lease | undefined } => {
      checkFirst()
      const existing = this.#findExisting(input, digests)
      if (existing !== undefined) {
        if (write !== undefined) this.#blobTable.deleteWrite(write)
        return { row: existing, isNew: false }
      }
      const session = this.#leases.session(key)
      const heldUntil = unlessBusy && this.#leases.heldUntil(session, unlessBusy)
      if (heldUntil) throw sessionBusy(key, heldUntil)
      this.#resolveCalls(key, input.resolvedCalls ?? [])
      const row = this.#insert(input, body, digests[0] ?? '')
      this.#blobTable.assignHolder(key, 'task', run, write)
      return { row, isNew: true, lease: this.#claimNow(row, key, { ...options, session }) }
    }
    const { row, isNew, lease } = await this.#blobs.write({ key }, blobSources, async (write) =>
      this.#db.write(() => add(write)),
    )
    if (lease !== undefined)
      return { run: { ...runSummary(row), task: input.task, status: 'running', attempts: 1 }, isNew, lease }
    // The run may have ended or been erased since, with the blobs of its task.
    const added = await this.get(key.tenant, String(row.run))
    if (added === undefined) throw fenced(key)
    return { run: added, isNew }
  }

  get(tenant: string, run: string): Promise<DurableRun | undefined> {
    return readRun(this.#blobs, () => this.#db.get('select * from runs where tenant = ? and run = ?', tenant, run))
  }

  list({ tenant, agents, cursor, limit, ...filter }: Parameters<RunStore['list']>[0]) {
    const agentParams = agents === undefined ? null : JSON.stringify(agents)
    const { owner = null, status = null, code = null } = filter as Partial<Record<'owner' | 'status' | 'code', string>>
    const [beforeRow] = parseCursor(cursor, [Number.MAX_SAFE_INTEGER])
    const rows = this.#db.all(
      `select * from runs where tenant = ? and (? is null or owner = ?) and (? is null or status = ?)
       and (? is null or code = ?) and (? is null or agent in (select value from json_each(?))) and n < ? order by n desc limit ?`,
      ...[tenant, owner, owner, status, status, code, code, agentParams, agentParams, beforeRow, limit + 1],
    )
    return toPage(rows, limit, ({ n }) => [Number(n)], runSummary)
  }

  /** @throws AlliumError `store.fenced` when the run is not running under the lease */
  checkHeld(lease: Lease, run: string): Row {
    const session = this.#leases.checkHeld(lease)
    if (session.run !== run) throw fenced(lease.key)
    return session
  }

  find(key: SessionKey, idempotencyKey: string): Promise<DurableRun | undefined> {
    return readRun(this.#blobs, () => this.#byKey(key, idempotencyKey))
  }

  giveUp(lease: Lease, run: string, { status, code, reason }: Parameters<RunStore['giveUp']>[2]): void {
    this.#db.write(() => {
      const { version } = this.checkHeld(lease, run)
      this.#db.run(
        `update runs set status = ?, code = ?, reason = ?, session_version = ?, updated_at = ? where tenant = ? and run = ?`,
        ...[status, code, reason, Number(version), this.#clock.now(), lease.key.tenant, run],
      )
      this.#db.run(
        `update sessions set run = null, held_until = 0, token = -token where ${leaseMatches}`,
        ...keyParams(lease.key),
      )
    })
  }

  retry(tenant: string, run: string): boolean {
    return this.#db.write(() => this.#retry(tenant, run))
  }

  migrate(tenant: string, run: string, { from, to }: { from: string; to: string }): boolean {
    return this.#db.write(() => {
      const row = this.#db.get('select * from runs where tenant = ? and run = ? and version = ?', tenant, run, from)
      const isReady = row?.status === 'failed' ? this.#retry(tenant, run) : row !== undefined && this.#isIdle(row)
      if (!isReady) return false
      this.#db.run(
        'update runs set version = ?, attempts = 0, updated_at = ? where tenant = ? and run = ?',
        ...[to, this.#clock.now(), tenant, run],
      )
      return true
    })
  }

  /** Whether an active run is executed by no process. */
  #isIdle({ status, tenant, owner, session_agent, session, run }: Row): boolean {
    if (status === 'queued') return true
    const held = this.#db.get(
      `select 1 from sessions where ${leaseMatches} and run = ? and boot = ? and held_until > ?`,
      ...[tenant, owner, session_agent, session, run, this.#clock.boot, this.#clock.monotonic()].map(
        (value) => value ?? null,
      ),
    )
    return status === 'running' && held === undefined
  }

  #retry(tenant: string, run: string): boolean {
    const failed = `r.tenant = ? and r.run = ? and r.status = 'failed'`
    const laterRuns = `select 1 from runs l where l.tenant = r.tenant and l.owner = r.owner
        and l.session_agent = r.session_agent and l.session = r.session and l.n > r.n`
    const row = this.#db.get(
      `select r.run from runs r join sessions s
         on s.tenant = r.tenant and s.owner = r.owner and s.agent = r.session_agent and s.id = r.session
         where ${failed} and s.version = r.session_version and not exists (${laterRuns})`,
      tenant,
      run,
    )
    if (row === undefined) return false
    this.#db.run(
      `update runs set status = 'queued', attempts = 0, token = 0, session_version = null, reported = 0, code = null, reason = null, stop = null,
         run_at = ?1, updated_at = ?1, rank = ?1 + priority * ${priorityStep} where tenant = ?2 and run = ?3`,
      ...[this.#clock.now(), tenant, run],
    )
    return true
  }

  /** Writes only if there is a run to delete, because every process calls it with each poll. */
  expire(olderThan: Parameters<RunStore['expire']>[0]['olderThan']): Awaited<ReturnType<RunStore['expire']>> {
    const retention = JSON.stringify(retentionByStatus(olderThan))
    const now = this.#clock.now()
    const due = () =>
      this.#db.all(
        `select r.tenant, r.run, r.status from json_each(?) e cross join runs r
         where r.status = e.value ->> 0 and r.updated_at < ? - (e.value ->> 1) and not exists (
           select 1 from pending_calls w where w.tenant = r.tenant and w.owner = r.owner and w.agent = r.session_agent and w.session = r.session
           and w.turn_id = r.run
         ) limit 1000`,
        ...[retention, now],
      )
    forgetTurns(this.#db, now)
    if (due().length === 0) return {}
    return this.#db.write(() => {
      const counts: Partial<Record<EndedStatus, number>> = {}
      for (const { tenant = '', run = '', status } of due()) {
        for (const table of ['steps', 'runs'])
          this.#db.run(`delete from ${table} where tenant = ? and run = ?`, tenant, run)
        counts[status as EndedStatus] = (counts[status as EndedStatus] ?? 0) + 1
      }
      return counts
    })
  }

  #findExisting({ key, idempotencyKey, run }: NewDurableRun, digests: readonly string[]): Row | undefined {
    if (idempotencyKey === undefined) return undefined
    const row = this.#byKey(key, idempotencyKey)
    if (row !== undefined && !digests.includes(String(row.fingerprint)))
      throw idempotencyKeyReused(key, idempotencyKey, run)
    return row
  }

  #byKey(key: SessionKey, idempotencyKey: string): Row | undefined {
    return this.#db.get(
      'select * from runs where tenant = ? and owner = ? and session_agent = ? and session = ? and idempotency_key = ?',
      ...[...keyParams(checkKey(key)), checkName('idempotency key', idempotencyKey)],
    )
  }

  /** Removes calls that have been decided from the pending ones. */
  #resolveCalls(key: SessionKey, callIds: readonly string[]): void {
    const filter = 'tenant = ? and owner = ? and agent = ? and session = ? and call_id = ?'
    const missing = callIds.filter(
      (id) => this.#db.run(`delete from pending_calls where ${filter}`, ...keyParams(key), id) === 0,
    )
    if (missing.length > 0) throw notPending(key, missing)
  }

  #insert(input: NewDurableRun, task: Uint8Array, fingerprint: string): Row {
    const { key, run, agent, version, idempotencyKey } = input
    const { queue, priority } = checkQueue(input)
    const now = this.#clock.now()
    const runAt = Math.floor(input.runAt ?? now)
    return this.#db.get(
      `insert into runs (tenant, owner, session_agent, session, run, agent, version, status, run_at, idempotency_key, fingerprint,
       updated_at, task, sealed_as, queue, priority, rank) values (?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?) returning *`,
      ...[
        ...keyParams(checkKey(key)),
        run,
        agent,
        version,
        runAt,
        idempotencyKey ?? null,
        fingerprint,
        now,
        task,
        key.agent,
      ],
      ...[queue, priority, runAt <= now ? runAt + priority * priorityStep : null],
    ) as Row
  }

  /** Claims a new run if no other run of its queue could start, and the limits allow it. */
  #claimNow(
    row: Row,
    key: SessionKey,
    { claim, worker, limits, agents, session }: AddOptions & { session: Row | undefined },
  ): Lease | undefined {
    const now = this.#clock.now()
    if (claim === undefined || Number(row.run_at) > now) return undefined
    const [agent, queue] = [String(row.agent), String(row.queue)]
    if (this.#waiting.hasStartable([agent, String(row.version), queue], Number(row.n))) return undefined
    const room = new QueueRoom(this.#db, {
      queue: { ...limits, name: queue },
      names: JSON.stringify(agents ?? [agent]),
      now,
    })
    if (room.left(key.tenant) <= 0) return undefined
    const { lease } = this.#leases.acquireNow(key, claim, String(row.run), session)
    if (lease === undefined) return undefined
    if (limits !== undefined) room.take(agent, key.tenant)
    this.#db.run(
      `update runs set status = 'running', attempts = 1, token = ?, worker = ? where n = ?`,
      ...[lease.token, worker ?? null, Number(row.n)],
    )
    return lease
  }
}
