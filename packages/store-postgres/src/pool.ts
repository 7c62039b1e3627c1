import type { ConnectionOptions } from 'node:tls'
import pg from 'pg'

/** What the store needs of a pool: that of [pg](https://node-postgres.com) is one. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>
}

export interface PostgresClient {
  /** @param query the text, or the text with milliseconds that it may take in place of the pool's `query_timeout` */
  query(
    query: string | { text: string; query_timeout: number },
    values?: unknown[],
  ): Promise<{ rows: Record<string, unknown>[] }>
  /** With `true` the connection is closed instead of used again. */
  release(destroy?: boolean): void
  on(event: 'error', listener: (error: Error) => void): unknown
  off(event: 'error', listener: (error: Error) => void): unknown
}

/** A pool of the store's own. */
export interface OwnedPool extends PostgresPool {
  end(): Promise<void>
}

export function createPool(url: string, ssl: boolean | ConnectionOptions | undefined): OwnedPool {
  const pool = new pg.Pool({
    connectionString: url,
    ...(ssl !== undefined && { ssl }),
    fallback_application_name: 'allium',
    connectionTimeoutMillis: 5000,
    // A server that hangs is as good as gone.
    query_timeout: 15_000,
    keepAlive: true,
  })
  // A connection that ends while nobody uses it is replaced when it is needed.
  pool.on('error', () => {})
  return pool
}
