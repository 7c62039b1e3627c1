import type { ClaimQueue } from '@allium/store'
import type { Database, Value } from '../database/database.ts'

/** Milliseconds for which the last turn of a tenant is kept. */
const turnTtl = 86_400_000

/** The agents whose runs count towards the limits of a queue, as JSON. */
export type AgentNames = string

/**
 * How many runs of a queue may still start, in total and for each tenant. Valid inside one transaction, in which no other process can
 * start a run.
 */
export class QueueRoom {
  readonly queue: ClaimQueue
  readonly #db: Database
  readonly #names: AgentNames
  readonly #now: number
  readonly #tenants = new Map<string, number>()
  #left: number

  constructor(db: Database, { queue, names, now }: { queue: ClaimQueue; names: AgentNames; now: number }) {
    this.queue = queue
    this.#db = db
    this.#names = names
    this.#now = now
    const { places = Number.POSITIVE_INFINITY, concurrency, rateLimit } = queue
    this.#left = Math.min(places, this.#allowed(concurrency, rateLimit?.limit))
  }

  /** Returns how many runs of the tenant may start. */
  left(tenant: string): number {
    if (this.#left <= 0) return 0
    const { perTenant, rateLimit } = this.queue
    const ofTenant = this.#tenants.get(tenant) ?? this.#allowed(perTenant, rateLimit?.perTenant, tenant)
    this.#tenants.set(tenant, ofTenant)
    return Math.min(this.#left, ofTenant)
  }

  get isFull(): boolean {
    return this.#left <= 0
  }

  /** Counts a start, and the turn of its tenant. */
  take(agent: string, tenant: string): void {
    this.#left--
    this.#tenants.set(tenant, (this.#tenants.get(tenant) ?? 0) - 1)
    this.#recordTurn(agent, tenant)
    const { name, rateLimit } = this.queue
    if (rateLimit === undefined) return
    this.#db.run('delete from queue_starts where expires_at <= ?', this.#now)
    const expiresAt = this.#now + rateLimit.period
    this.#db.run('insert into queue_starts values (?, ?, ?, ?, ?)', agent, name, tenant, this.#now, expiresAt)
  }

  /** Turns within one millisecond keep their order. */
  #recordTurn(agent: string, tenant: string): void {
    const { name } = this.queue
    const afterLast = 'select max(at) + 0.001 from queue_turns where agent = ? and queue = ? and at < ?'
    this.#db.run(
      `insert into queue_turns values (?, ?, ?, max(?, coalesce((${afterLast}), 0))) on conflict do update set at = excluded.at`,
      ...[agent, name, tenant, this.#now + 0.001, agent, name, this.#now + 1000],
    )
  }

  #allowed(concurrency: number | undefined, starts: number | undefined, tenant?: string): number {
    const running = this.#until(concurrency, 'runs', "status = 'running'", tenant)
    const period = this.queue.rateLimit?.period ?? 0
    // Starts in the future are from before the clock was set back.
    const started = this.#until(starts, 'queue_starts', 'at > ? and at <= ?', tenant, this.#now - period, this.#now)
    return Math.min(running, started)
  }

  /** Returns how many rows are missing to `most`. Does not count further than that. */
  #until(most: number | undefined, table: string, condition: string, tenant?: string, ...values: Value[]): number {
    if (most === undefined) return Number.POSITIVE_INFINITY
    const ofTenant = tenant === undefined ? '' : 'and tenant = ?'
    const row = this.#db.get(
      `select count(*) as n from (
         select 1 from ${table} where agent in (select value from json_each(?)) and queue = ? ${ofTenant} and ${condition} limit ?
       )`,
      ...[this.#names, this.queue.name, ...(tenant === undefined ? [] : [tenant]), ...values, most],
    )
    return most - Number(row?.n)
  }
}

/** Deletes the turns of tenants that had none for so long that their order does not matter. Writes only if there are any. */
export function forgetTurns(db: Database, now: number): void {
  const old = `select 1 from queue_turns where at < ? union all select 1 from queue_starts where expires_at <= ? limit 1`
  if (db.get(old, now - turnTtl, now) === undefined) return
  db.write(() => {
    db.run('delete from queue_turns where at < ?', now - turnTtl)
    db.run('delete from queue_starts where expires_at <= ?', now)
  })
}
