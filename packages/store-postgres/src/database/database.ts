import { setTimeout as sleep } from 'node:timers/promises'
import { AlliumError, type Lease } from '@allium/core'
import type { Schema } from '../schema/schema.ts'
import { isConnectionLost, isNotExecuted, toStoreError } from './errors.ts'
import type { PostgresClient, PostgresPool } from './pool.ts'
import { ServerClock } from './server-clock.ts'

export type Row = Record<string, unknown>

/** No attempt begins after this many milliseconds. A server that restarts is usually back within them, and the lease of a run is longer. */
const retryDeadline = 10_000

/** The longest delay between two attempts, in milliseconds. Delays double from 50 on. */
const longestDelay = 1600

/** Runs each statement on its own connection and holds none in between. It converts failures to errors with a code. */
export class Database {
  readonly #pool: PostgresPool
  readonly #schema: Schema
  /** The leases that this store issued. Tokens of other stores have no meaning here. */
  readonly issuedLeases = new WeakSet<Lease>()
  readonly clock = new ServerClock(async () => {
    return Number(await this.call('now_ms'))
  })
  #ready: Promise<void> | undefined
  #closed = false

  constructor(pool: PostgresPool, schema: Schema) {
    this.#pool = pool
    this.#schema = schema
  }

  /** The quoted schema. */
  get s(): string {
    return this.#schema.quoted
  }

  /** Migrates or checks the schema, once. */
  ready(): Promise<void> {
    this.#ready ??= this.#withRetries(true, (client) => this.#schema.prepare(client)).catch((error) => {
      this.#ready = undefined
      throw error
    })
    return this.#ready
  }

  /** Runs a statement that can be retried when its outcome is unknown: a read, or an idempotent write. */
  async queryIdempotent(text: string, ...values: unknown[]): Promise<Row[]> {
    await this.ready()
    return this.#withRetries(true, async (client) => (await client.query(text, values)).rows)
  }

  /** Runs a statement that is retried only if it was not executed. */
  async queryOnce(text: string, ...values: unknown[]): Promise<Row[]> {
    await this.ready()
    return this.#withRetries(false, async (client) => (await client.query(text, values)).rows)
  }

  /** Calls an idempotent function of the schema that returns one value. */
  async call(name: string, ...values: unknown[]): Promise<unknown> {
    const [row] = await this.queryIdempotent(`select ${this.#callOf(name, values)} as result`, ...values)
    return row?.result
  }

  /** Like `call`, for a function that is called again only if it was not executed. */
  async callOnce(name: string, ...values: unknown[]): Promise<unknown> {
    const [row] = await this.queryOnce(`select ${this.#callOf(name, values)} as result`, ...values)
    return row?.result
  }

  /** Like `callOnce`, for a function that returns rows. */
  rowsOnce(name: string, ...values: unknown[]): Promise<Row[]> {
    return this.queryOnce(`select * from ${this.#callOf(name, values)}`, ...values)
  }

  #callOf(name: string, values: readonly unknown[]): string {
    return `${this.s}.${name}(${paramList(values.length)})`
  }

  close(): void {
    this.#closed = true
  }

  async #withRetries<T>(isRepeatable: boolean, operation: (client: PostgresClient) => Promise<T>): Promise<T> {
    const deadline = performance.now() + retryDeadline
    for (let attempt = 0; ; attempt++)
      try {
        return await this.#try(operation)
      } catch (error) {
        const { cause, wasSent } = error instanceof SentError ? error : { cause: error, wasSent: false }
        const delay = Math.min(50 * 2 ** attempt, longestDelay) * (0.5 + Math.random() / 2)
        const isExhausted = this.#closed || performance.now() + delay > deadline
        const isRetryable = isNotExecuted(cause) || (isConnectionLost(cause) && (isRepeatable || !wasSent))
        if (isExhausted || !isRetryable) throw toStoreError(cause)
        await sleep(delay)
      }
  }

  async #try<T>(operation: (client: PostgresClient) => Promise<T>): Promise<T> {
    if (this.#closed) throw new AlliumError('store.unavailable', 'The store is closed. Open another one.')
    const client = await this.#pool.connect()
    client.on('error', ignoreError)
    let isConnectionBroken = false
    try {
      return await operation(client)
    } catch (cause) {
      isConnectionBroken = isConnectionLost(cause) && !isNotExecuted(cause)
      throw new SentError(cause)
    } finally {
      client.off('error', ignoreError)
      client.release(isConnectionBroken)
    }
  }
}

/** Returns the numbered parameters of a statement: `$1,$2` */
export function paramList(count: number, first = 1): string {
  return Array.from({ length: count }, (_, i) => `$${first + i}`).join()
}

/** Returns the columns of rows, as `unnest` takes them. */
export function columnsOf(width: number, rows: readonly (readonly unknown[])[]): unknown[][] {
  return Array.from({ length: width }, (_, i) => rows.map((row) => row[i]))
}

/** An error after the connection was established. */
class SentError {
  readonly wasSent = true
  constructor(readonly cause: unknown) {}
}

/** A connection that ends during a statement fails the statement too, which reports the error. */
function ignoreError(): void {}
