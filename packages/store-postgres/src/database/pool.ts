import type { ConnectionOptions } from 'node:tls'
import pg from 'pg'

/** The part of a pool that the store uses; a [pg](https://node-postgres.com) pool has it. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>
}

export interface PostgresClient {
  /** @param query the text, or the text with a timeout in milliseconds that replaces the pool's `query_timeout` */
  query(
    query: string | { text: string; query_timeout: number },
    values?: unknown[],
  ): Promise<{ rows: Record<string, unknown>[] }>
  /** Closes the connection instead of reusing it if `destroy` is true. */
  release(destroy?: boolean): void
  on(event: 'error', listener: (error: Error) => void): unknown
  off(event: 'error', listener: (error: Error) => void): unknown
}

/** A pool that the store created. */
export interface OwnedPool extends PostgresPool {
  end(): Promise<void>
}

export function createPool(url: string, ssl: boolean | ConnectionOptions | undefined): OwnedPool {
  const pool = new pg.Pool({
    connectionString: url,
    ...(ssl !== undefined && { ssl }),
    fallback_application_name: 'allium',
    connectionTimeoutMillis: 5000,
    // A server that hangs counts as unavailable.
    query_timeout: 15_000,
    keepAlive: true,
    // A new connection costs the server as much CPU as several turns, because it has none of their plans yet.
    idleTimeoutMillis: 60_000,
    allowExitOnIdle: true,
  })
  // An idle connection that ends is replaced when it is needed.
  pool.on('error', () => {})
  return pool
}
