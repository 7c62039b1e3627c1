import type { Erasure } from '@allium/core'
import { type Blobs, sessionKeyFromRow } from '@allium/store-sql'
import type { Database, Value } from '../database/database.ts'
import { deleteErasedSession } from '../lease/delete-session.ts'
import { purgeDeletedTerms } from '../lease/deleted-terms.ts'
import type { ErasureLog } from '../lease/erasure-log.ts'
import { ofRun } from '../schema/events.ts'

/** Rows per step; timers and other writes run between steps. */
const batchSize = 200

/** The rows that a step erases. */
interface Step {
  /** `tenant = ?`, or with `and owner = ?`. */
  readonly condition: string
  readonly values: readonly Value[]
  /** Older rows are erased. */
  readonly token: number
  /** The last durable run that was added before the erasure. */
  readonly lastRun: number
}

/**
 * Erases all data of a tenant, or of one of its owners, in steps. It writes the tombstone first, which rejects older writes from then on.
 *
 * An interrupted erasure, for example by a crash, must be repeated from the start.
 */
export class Eraser {
  readonly #db: Database
  readonly #erasures: ErasureLog
  readonly #blobs: Blobs

  constructor(db: Database, erasures: ErasureLog, blobs: Blobs) {
    this.#db = db
    this.#erasures = erasures
    this.#blobs = blobs
  }

  /** Returns how many sessions had stored content. */
  async erase(erasure: Erasure): Promise<number> {
    const step = await this.#db.writeInGroup(() => this.#begin(erasure))
    let stored = 0
    let deletedCount: number
    do {
      const deleted = await this.#db.writeInGroup(() => this.#deleteSessions(step))
      deletedCount = deleted.length
      stored += deleted.filter(Boolean).length
    } while (deletedCount === batchSize)
    const deleteOlder = (table: string, key: string) => (of: Step) =>
      this.#updateOlder(of, `delete from ${table}`, table, key)
    // After the sessions: their leases are void by now, so nothing more is recorded under them.
    for (const deleteBatch of [
      // Before the runs: an active schedule adds none from then on.
      deleteOlder('schedules', 'tenant, owner, id'),
      this.#deleteRuns,
      this.#deleteEvents,
      deleteOlder('vault', 'tenant, owner, agent, session, layer'),
      deleteOlder('recordings', 'n'),
      // They have digests in place of the names.
      (of: Step) => deleteOlder('rollout_turns', 'n')({ ...of, values: this.#erasures.digests(erasure) }),
      deleteOlder('feedback', 'n'),
      // Also what the owner has said about the sessions of others.
      (of: Step) => deleteOlder('feedback', 'n')({ ...of, condition: of.condition.replace('owner', 'author') }),
      this.#deleteRecords,
      deleteOlder('key_values', 'key'),
      this.#anonymizeHolds,
    ])
      while ((await this.#db.writeInGroup(() => deleteBatch.call(this, step))) > 0);
    await this.#blobs.collect()
    await purgeDeletedTerms(this.#db)
    this.#db.truncateWal()
    return stored
  }

  #begin(erasure: Erasure): Step {
    const { tenant, owner } = erasure
    const token = this.#erasures.add({ tenant, owner })
    const condition = owner === undefined ? 'tenant = ?' : 'tenant = ? and owner = ?'
    // Removes write holders. A durable run whose task is being written is rejected with `store.fenced`.
    const values = owner === undefined ? [tenant] : [tenant, owner]
    this.#db.run(`delete from blob_holders where ${condition} and kind = 'write'`, ...values)
    // A run that begins now must not use a key that is deleted after it.
    this.#db.run(`delete from scopes where ${condition}`, ...values)
    if (owner === undefined) this.#forgetTenant(tenant)
    const run = Number(this.#db.get('select coalesce(max(n), 0) as n from runs')?.n)
    return { condition, values, token, lastRun: run }
  }

  /** Deletes the name of the tenant from the queues. Its starts still count towards the rate limits of all tenants. */
  #forgetTenant(tenant: string): void {
    this.#db.run('delete from queue_turns where tenant = ?', tenant)
    this.#db.run("update queue_starts set tenant = '' where tenant = ?", tenant)
  }

  #deleteSessions({ condition, values, token, lastRun: run }: Step): boolean[] {
    const rows = this.#db.all(
      `select tenant, owner, agent, id as session from sessions where ${condition}
       and (abs(token) < ? or run in (select run from runs where ${condition} and n <= ?)) limit ${batchSize}`,
      ...[...values, token, ...values, run],
    )
    return rows.map((row) => deleteErasedSession(this.#db, this.#erasures, sessionKeyFromRow(row)))
  }

  #deleteRuns({ condition, values, lastRun: run }: Step): number {
    const runBatch = `select n from runs where ${condition} and n <= ? limit 20`
    return this.#db.run(`delete from runs where n in (${runBatch})`, ...values, run)
  }

  #deleteEvents({ condition, values, token }: Step): number {
    const row = this.#db.get(`select run from event_runs where ${condition} and token < ? limit 1`, ...values, token)
    if (row === undefined) return 0
    const run = Number(row.run)
    const batches = `select place from events where ${ofRun} limit ${batchSize}`
    const events = this.#db.run(`delete from events where place in (${batches})`, run)
    if (events > 0) return events
    return this.#db.run('delete from event_runs where run = ?', run)
  }

  #deleteRecords(step: Step): number {
    this.#updateOlder(step, 'delete from outbox_deliveries', 'outbox', 'seq')
    return this.#updateOlder(step, 'delete from outbox', 'outbox', 'seq')
  }

  /** Holds stay and can be settled by their digests. Only unsettled holds of runs have an owner. */
  #anonymizeHolds(step: Step): number {
    const deleteBatch = 'update holds set names = null, run = null, tenant = null, owner = null'
    const ofRuns = { ...step, condition: `run is not null and settled = 0 and ${step.condition}` }
    return this.#updateOlder(ofRuns, deleteBatch, 'holds', 'account, id', 'indexed by holds_by_run')
  }

  /** Changes some rows of a table that are older than the erasure. */
  #updateOlder(step: Step, statement: string, table: string, key: string, index = ''): number {
    const { condition, values, token } = step
    const rows = `select ${key} from ${table} ${index} where ${condition} and token < ? limit ${batchSize}`
    return this.#db.run(`${statement} where (${key}) in (${rows})`, ...values, token)
  }
}
