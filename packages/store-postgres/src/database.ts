import { setTimeout as sleep } from 'node:timers/promises'
import { AlliumError, type Lease } from '@allium/core'
import { isLost, isUndone, told } from './failures.ts'
import type { PostgresClient, PostgresPool } from './pool.ts'
import type { Schema } from './schema.ts'
import { ServerClock } from './server-clock.ts'

export type Row = Record<string, unknown>

/** Milliseconds between one try and the next: a server that starts again is there within them. */
const pauses = [50, 100, 200, 400, 800, 1600]

/** Milliseconds after which no new try begins. */
const patience = 10_000

/** Statements, each on a connection of its own: none is held while nobody asks. What fails has a code. */
export class Database {
  readonly #pool: PostgresPool
  readonly #schema: Schema
  /** Leases of this store: tokens of others tell nothing here. */
  readonly given = new WeakSet<Lease>()
  readonly clock = new ServerClock(async () => {
    const [row] = await this.repeatable(`select ${this.s}.now_ms() as now`)
    return Number(row?.now)
  })
  #ready: Promise<void> | undefined
  /** Whether there are sessions of earlier versions, whose agent is not known yet: none are added. Known once it is ready. */
  hasUnclaimed = true
  #closed = false

  constructor(pool: PostgresPool, schema: Schema) {
    this.#pool = pool
    this.#schema = schema
  }

  /** The quoted schema. */
  get s(): string {
    return this.#schema.quoted
  }

  /** Brings the schema to this version's form, or checks that it has it; once. */
  ready(): Promise<void> {
    this.#ready ??= this.#again(true, (client) => this.#prepare(client)).catch((error) => {
      this.#ready = undefined
      throw error
    })
    return this.#ready
  }

  /** A statement that may be sent again where nobody knows whether it was done: what reads, or does the same once more. */
  async repeatable(text: string, ...values: unknown[]): Promise<Row[]> {
    await this.ready()
    return this.#again(true, async (client) => (await client.query(text, values)).rows)
  }

  /** A statement that is sent again only where nothing of it was done. */
  async once(text: string, ...values: unknown[]): Promise<Row[]> {
    await this.ready()
    return this.#again(false, async (client) => (await client.query(text, values)).rows)
  }

  async #prepare(client: PostgresClient): Promise<void> {
    await this.#schema.prepare(client)
    const { rows } = await client.query(`select exists (select from ${this.s}.sessions where agent = '') as some`)
    this.hasUnclaimed = rows[0]?.some === true
  }

  close(): void {
    this.#closed = true
  }

  async #again<T>(isRepeatable: boolean, work: (client: PostgresClient) => Promise<T>): Promise<T> {
    const end = performance.now() + patience
    for (let tries = 0; ; tries++)
      try {
        return await this.#try(work)
      } catch (error) {
        const { cause, wasSent } = error instanceof Failure ? error : { cause: error, wasSent: false }
        const isOver = this.#closed || tries === pauses.length || performance.now() > end
        const isSafe = isUndone(cause) || (isLost(cause) && (isRepeatable || !wasSent))
        if (isOver || !isSafe) throw told(cause)
        await sleep((pauses[tries] ?? 0) * (0.5 + Math.random() / 2))
      }
  }

  async #try<T>(work: (client: PostgresClient) => Promise<T>): Promise<T> {
    if (this.#closed) throw new AlliumError('store.unavailable', 'The store is closed. Open another one.')
    const client = await this.#pool.connect()
    client.on('error', heard)
    let isBroken = false
    try {
      return await work(client)
    } catch (cause) {
      isBroken = isLost(cause) && !isUndone(cause)
      throw new Failure(cause)
    } finally {
      client.off('error', heard)
      client.release(isBroken)
    }
  }
}

/** What failed after the connection was made. */
class Failure {
  readonly wasSent = true
  constructor(readonly cause: unknown) {}
}

/** A connection that ends under a statement fails that one, too: there it is told. */
function heard(): void {}
