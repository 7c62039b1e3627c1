import pg from 'pg'
import { onTestFinished } from 'vitest'

/** A pool for one test. */
export function newPool(url: string, options: pg.PoolConfig = {}): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, ...options })
  // `pool.end()` does not wait until its connections are closed, so a server that stops after it ends them with an error.
  pool.on('error', () => {})
  onTestFinished(() => pool.end())
  return pool
}
