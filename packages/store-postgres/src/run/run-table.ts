import type { Lease, SessionKey } from '@allium/core'
import { type DurableRun, fenced, type RecordedStep, type RunStore } from '@allium/store'
import {
  type Blobs,
  checkName,
  parseCursor,
  readRun,
  retentionByStatus,
  retryRead,
  runSummary,
  type Sealer,
  sealStep,
  stepsOf,
  toPage,
} from '@allium/store-sql'
import { translateLostBlobs } from '../blob/blobs.ts'
import { columnsOf, type Database } from '../database/database.ts'
import { keyParams, tenantMatches } from '../database/keys.ts'

/** The rows of durable runs and of their recorded steps. */
export class RunTable {
  readonly #db: Database
  readonly #sealer: Sealer
  readonly #blobs: Blobs

  constructor(db: Database, { sealer, blobs }: { sealer: Sealer; blobs: Blobs }) {
    this.#db = db
    this.#sealer = sealer
    this.#blobs = blobs
  }

  get(tenant: string, run: string): Promise<DurableRun | undefined> {
    return this.#read('tenant = $1 and run = $2', tenant, run)
  }

  async shape(digest: string): Promise<string | undefined> {
    const [row] = await this.#db.queryIdempotent(`select body from ${this.#db.s}.run_shapes where digest = $1`, digest)
    return row?.body as string | undefined
  }

  find(key: SessionKey, idempotencyKey: string): Promise<DurableRun | undefined> {
    return this.#read(
      `tenant = $1 and owner = $2 and session_agent = $3 and session = $4
       and hashtextextended(idempotency_key, 0) = hashtextextended($5, 0) and idempotency_key = $5`,
      ...[...keyParams(key), checkName('idempotency key', idempotencyKey)],
    )
  }

  #read(condition: string, ...values: string[]): Promise<DurableRun | undefined> {
    const sql = `select * from ${this.#db.s}.runs where ${condition}`
    return readRun(this.#blobs, async () => (await this.#db.queryIdempotent(sql, ...values))[0])
  }

  async list({ tenant, owner, agents, status, code, cursor, limit }: Parameters<RunStore['list']>[0]) {
    const [beforeRow] = parseCursor(cursor, [Number.MAX_SAFE_INTEGER])
    const rows = await this.#db.queryIdempotent(
      `select * from ${this.#db.s}.runs where ${tenantMatches('$1')} and ($2::text is null or owner = $2)
       and ($3::text is null or status = $3) and ($4::text[] is null or agent = any ($4)) and ($5::text is null or code = $5)
       and n < $6 order by n desc limit $7`,
      ...[tenant, owner ?? null, status ?? null, agents ?? null, code ?? null, beforeRow, limit + 1],
    )
    return toPage(rows, limit, ({ n }) => [Number(n)], runSummary)
  }

  /** Asks an active run to stop. Returns false if there is none. */
  async stop(tenant: string, run: string, reason: Parameters<RunStore['stop']>[1]): Promise<boolean> {
    const rows = await this.#db.queryIdempotent(
      `update ${this.#db.s}.runs set stop = coalesce(stop, $3)
       where tenant = $1 and run = $2 and status in ('queued', 'running') returning n`,
      ...[tenant, run, reason],
    )
    return rows.length > 0
  }

  async markReported({ key, token }: Lease, run: string, code: string | undefined): Promise<void> {
    await this.#db.queryIdempotent(
      `update ${this.#db.s}.runs set reported = true, code = case status when 'failed' then coalesce($4, code) else code end
       where tenant = $1 and run = $2 and token = $3 and status not in ('queued', 'running')`,
      ...[key.tenant, run, token, code ?? null],
    )
  }

  /** @throws AlliumError `store.fenced` when the run is not running under the lease */
  async giveUp({ key, token }: Lease, run: string, why: Parameters<RunStore['giveUp']>[2]): Promise<void> {
    const { status, code, reason } = why
    const isHeld = await this.#db.call('give_up_run', ...keyParams(key), token, run, status, code, reason)
    if (isHeld !== true) throw fenced(key)
  }

  async expire(olderThan: Parameters<RunStore['expire']>[0]['olderThan']): ReturnType<RunStore['expire']> {
    const retention = retentionByStatus(olderThan)
    const { s } = this.#db
    const rows = await this.#db.queryOnce(
      `select e.* from ${s}.forget_turns() f left join lateral ${s}.expire_runs($1, $2) e on true`,
      ...columnsOf(2, retention),
    )
    const deleted = rows.filter(({ status }) => status !== null)
    return Object.fromEntries(deleted.map(({ status, gone }) => [status, Number(gone)]))
  }

  steps({ key }: Lease, run: string): Promise<RecordedStep[]> {
    return retryRead(async () => {
      const sql = `select id, body, sealed_as from ${this.#db.s}.steps where tenant = $1 and run = $2`
      return stepsOf(this.#blobs, key, run, await this.#db.queryIdempotent(sql, key.tenant, run))
    })
  }

  /** @throws AlliumError `store.fenced` when the run is not running under the lease */
  async recordStep(lease: Lease, run: string, step: RecordedStep): Promise<void> {
    const { key, token } = lease
    const { s } = this.#db
    const { body, cuts } = await sealStep(this.#sealer, key, run, step)
    const values = [...keyParams(key), token, run, checkName('id of a step', step.id), body]
    await this.#blobs.write(lease, cuts, async (write) => {
      const keepBlobs = write && `, case when r.held then ${s}.keep_blobs($1, $2, $3, $4, 'step', $6, $9, $10) end`
      const sql = `select r.held${keepBlobs ?? ''} from ${s}.record_step($1, $2, $3, $4, $5, $6, $7, $8) r (held)`
      const blobs = write === undefined ? [] : [write.id, write.digests]
      const [row] = await translateLostBlobs(key, this.#db.queryIdempotent(sql, ...values, ...blobs))
      if (row?.held !== true) throw fenced(key)
    })
  }
}
