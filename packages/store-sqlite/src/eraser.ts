import type { Erasure, SessionKey } from '@allium/core'
import type { Blobs } from '@allium/store-sql'
import type { Database, Row, Value } from './database.ts'
import type { Erasures } from './erasures.ts'
import { forgetErased } from './forget.ts'

/** Rows of one step: timers and other writes get their turn between two. */
const some = 200

/** What a step looks for. */
interface Step {
  /** `tenant = ?`, or with `and owner = ?`. */
  readonly which: string
  readonly values: readonly Value[]
  /** What is older is erased. */
  readonly token: number
  /** The last durable run that was added before. */
  readonly run: number
}

/**
 * Forgets all of a tenant, or of one owner in it, step by step. The tombstone comes first: from then on nothing older is stored. An erasure
 * that was cut, as by the end of its process, is done again from its beginning.
 */
export class Eraser {
  readonly #db: Database
  readonly #erasures: Erasures
  readonly #blobs: Blobs

  constructor(db: Database, erasures: Erasures, blobs: Blobs) {
    this.#db = db
    this.#erasures = erasures
    this.#blobs = blobs
  }

  /** How many sessions had something stored. */
  async erase(of: Erasure): Promise<number> {
    const step = await this.#db.writeTogether(() => this.#begin(of))
    let stored = 0
    let found: number
    do {
      const forgotten = await this.#db.writeTogether(() => this.#sessions(step))
      found = forgotten.length
      stored += forgotten.filter(Boolean).length
    } while (found === some)
    // Behind the sessions: their leases are void by now, so that nothing of these is recorded any more.
    for (const forget of [this.#runs, this.#events, this.#vault, this.#records, this.#values, this.#holds])
      while ((await this.#db.writeTogether(() => forget.call(this, step))) > 0);
    await this.#blobs.collect()
    this.#db.truncateLog()
    return stored
  }

  #begin(of: Erasure): Step {
    const { tenant, owner } = of
    const token = this.#erasures.add({ tenant, owner })
    const which = owner === undefined ? 'tenant = ?' : 'tenant = ? and owner = ?'
    // A durable run whose task is being written is rejected with `store.fenced`.
    const values = owner === undefined ? [tenant] : [tenant, owner]
    this.#db.run(`delete from blob_holders where ${which} and kind = 'write'`, ...values)
    const run = Number(this.#db.get('select coalesce(max(n), 0) as n from runs')?.n)
    return { which, values, token, run }
  }

  #sessions({ which, values, token, run }: Step): boolean[] {
    const rows = this.#db.all(
      `select tenant, owner, agent, id from sessions where ${which}
       and (abs(token) < ? or run in (select run from runs where ${which} and n <= ?)) limit ${some}`,
      ...[...values, token, ...values, run],
    )
    return rows.map((row) => forgetErased(this.#db, this.#erasures, keyOf(row)))
  }

  #runs({ which, values, run }: Step): number {
    const some20 = `select tenant, run from runs where ${which} and n <= ? limit 20`
    this.#db.run(`delete from steps where (tenant, run) in (${some20})`, ...values, run)
    return this.#db.run(`delete from runs where (tenant, run) in (${some20})`, ...values, run)
  }

  #events({ which, values, token }: Step): number {
    const row = this.#db.get(`select run from event_runs where ${which} and token < ? limit 1`, ...values, token)
    if (row === undefined) return 0
    const run = Number(row.run)
    const first = `select first from events where run = ? limit ${some}`
    const events = this.#db.run(`delete from events where run = ? and first in (${first})`, run, run)
    if (events > 0) return events
    this.#db.run('delete from event_signals where run = ?', run)
    return this.#db.run('delete from event_runs where run = ?', run)
  }

  #vault(step: Step): number {
    return this.#older(step, 'delete from vault', 'vault', 'tenant, owner, agent, session, layer')
  }

  #records(step: Step): number {
    this.#older(step, 'delete from outbox_places', 'outbox', 'seq')
    return this.#older(step, 'delete from outbox', 'outbox', 'seq')
  }

  #values(step: Step): number {
    return this.#older(step, 'delete from key_values', 'key_values', 'key')
  }

  /** What is held stays, and can be settled by its digests. */
  #holds(step: Step): number {
    const forget = 'update holds set place = null, run = null, tenant = null, owner = null'
    return this.#older(step, forget, 'holds', 'account, id')
  }

  /** Some rows of a table that are older than the erasure. */
  #older({ which, values, token }: Step, change: string, table: string, key: string): number {
    const rows = `select ${key} from ${table} where ${which} and token < ? limit ${some}`
    return this.#db.run(`${change} where (${key}) in (${rows})`, ...values, token)
  }
}

function keyOf({ tenant, owner, agent, id }: Row): SessionKey {
  return { tenant: String(tenant), owner: String(owner), agent: String(agent), sessionId: String(id) }
}
