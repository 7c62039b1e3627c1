import type { Lease, SessionKey } from '@allium/core'
import { type DurableRun, type EndedStatus, fenced, type RunStore } from '@allium/store'
import {
  type Blobs,
  checkName,
  parseCursor,
  priorityStep,
  readRun,
  retentionByStatus,
  runSummary,
  toPage,
} from '@allium/store-sql'
import type { Database, Row } from '../database/database.ts'
import type { SharedClock } from '../database/machine-clock.ts'
import { keyParams, type Leases, leaseMatches } from '../lease/leases.ts'
import { logStop } from '../schema/runs.ts'
import type { StoreParts } from '../store-parts.ts'
import { forgetTurns } from './queue-room.ts'

/** The rows of durable runs. */
export class RunTable {
  readonly #db: Database
  readonly #clock: SharedClock
  readonly #leases: Leases
  readonly #blobs: Blobs

  constructor({ db, clock, leases, blobs }: StoreParts) {
    this.#db = db
    this.#clock = clock
    this.#leases = leases
    this.#blobs = blobs
  }

  get(tenant: string, run: string): Promise<DurableRun | undefined> {
    return readRun(this.#blobs, () => this.#db.get('select * from runs where tenant = ? and run = ?', tenant, run))
  }

  find(key: SessionKey, idempotencyKey: string): Promise<DurableRun | undefined> {
    return readRun(this.#blobs, () => this.byKey(key, idempotencyKey))
  }

  shape(digest: string): string | undefined {
    return this.#db.get('select body from run_shapes where digest = ?', digest)?.body as string | undefined
  }

  byKey(key: SessionKey, idempotencyKey: string): Row | undefined {
    return this.#db.get(
      'select * from runs where tenant = ? and owner = ? and session_agent = ? and session = ? and idempotency_key = ?',
      ...[...keyParams(key), checkName('idempotency key', idempotencyKey)],
    )
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

  /** Asks an active run to stop. Returns false if there is none. */
  stop(tenant: string, run: string, reason: Parameters<RunStore['stop']>[1]): boolean {
    const isActive = "tenant = ? and run = ? and status in ('queued', 'running')"
    return this.#db.write(() => {
      const update = `update runs set stop = ? where stop is null and ${isActive}`
      if (this.#db.run(update, reason, tenant, run) === 0)
        return this.#db.get(`select 1 from runs where ${isActive}`, tenant, run) !== undefined
      this.#db.run(logStop, this.#clock.now(), tenant, run)
      return true
    })
  }

  markReported({ key, token }: Lease, run: string, code: string | undefined): void {
    this.#db.run(
      `update runs set reported = 1, code = iif(status = 'failed', coalesce(?, code), code)
       where tenant = ? and run = ? and token = ? and status not in ('queued', 'running')`,
      ...[code ?? null, key.tenant, run, token],
    )
  }

  giveUp(lease: Lease, run: string, { status, code, reason }: Parameters<RunStore['giveUp']>[2]): void {
    this.#db.write(() => {
      const { version } = this.checkHeld(lease, run)
      this.#db.run(
        `update runs set status = ?, code = ?, reason = ?, session_version = ?, updated_at = ? where tenant = ? and run = ?`,
        ...[status, code, reason, Number(version), this.#clock.now(), lease.key.tenant, run],
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
        `select r.n, r.status from json_each(?) e cross join runs r
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
      for (const { n = 0, status } of due()) {
        this.#db.run('delete from runs where n = ?', n)
        counts[status as EndedStatus] = (counts[status as EndedStatus] ?? 0) + 1
      }
      return counts
    })
  }
}
