import { afterAll, describe, onTestFinished, test } from 'vitest'
import { postgres } from '../../store-postgres/src/index.ts'
import { newPool } from '../../store-postgres/test/pools.ts'
import { newSchema } from '../../store-postgres/test/schemas.ts'
import { anyServer } from '../../store-postgres/test/server.ts'
import { bytesOf, type Reads } from '../../store-sqlite/test/count-reads.ts'
import { costsOf, expectDocumented } from './large-sessions/costs.ts'

const server = await anyServer()
afterAll(() => server?.end())

/** Counts the statements of a pool, without those of transactions, and the bytes of their rows. */
function countingPool(pool: ReturnType<typeof newPool>) {
  let reads: Reads = { statements: 0, bytes: 0 }
  return {
    take() {
      const taken = reads
      reads = { statements: 0, bytes: 0 }
      return taken
    },
    async connect() {
      const client = await pool.connect()
      const query = async (text: string, values?: unknown[]) => {
        const { rows } = await client.query<Record<string, unknown>>(text, values)
        if (!/^(begin|commit|rollback|set) ?/i.test(text)) reads.statements++
        reads.bytes += bytesOf(rows)
        return { rows }
      }
      return Object.assign(Object.create(client) as typeof client, { query })
    },
  }
}

describe.skipIf(server === undefined)('on Postgres', () => {
  test.each([
    ['turns', 200],
    ['images', 8],
  ] as const)('a route reads what docs/reliability.md says, of a session of %s', async (id, turns) => {
    const pool = countingPool(newPool(server?.url ?? ''))
    const store = postgres({ pool: pool as never, schema: newSchema() })
    onTestFinished(() => store.close())
    expectDocumented(await costsOf(store.sessions, pool.take, { id, turns }), id)
  })
})
