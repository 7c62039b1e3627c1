import { setTimeout as sleep } from 'node:timers/promises'
import { erasureConformance } from '@allium/testing'
import { afterAll, describe, it } from 'vitest'
import { sql, storesAt } from './schemas.ts'
import { anyServer } from './server.ts'

const server = await anyServer()
const url = server?.url ?? ''
const stores = storesAt(url)
afterAll(async () => {
  await stores.end()
  await server?.end()
})

/** Every row of every table that the catalog has in the schema of a store. */
async function rowsIn(schema: string): Promise<string> {
  const tables = await sql(url, 'select tablename from pg_tables where schemaname = $1', [schema])
  const all = await Promise.all(tables.map(({ tablename }) => sql(url, `select * from "${schema}"."${tablename}"`)))
  return all.flat().flatMap(Object.values).map(textOf).join('\n')
}

function textOf(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value)
}

describe.skipIf(server === undefined)('postgres()', () => {
  for (const seed of [1, 2, 3])
    erasureConformance({
      name: `erases, seed ${seed}`,
      seed,
      makeStore: () => stores.fresh(),
      contents: (store) => rowsIn(stores.schemaOf(store)),
      close: stores.close,
      now: Date.now,
      // Clocks of the two count whole milliseconds, and parts of one.
      sleep: (ms) => sleep(ms + 5),
      describe,
      it: (name: string, run: () => Promise<void>) => it(name, run, 120_000),
    })
})
