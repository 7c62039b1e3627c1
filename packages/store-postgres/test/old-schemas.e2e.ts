import { afterAll, describe, it, onTestFinished } from 'vitest'
import { oldRows } from '../../store-sql/test/old-rows.ts'
import { checkDurableRun, checkLists, checkOtherAgent, checkOwnAgent } from '../../store-sql/test/old-sessions.ts'
import type { PostgresOptions } from '../src/index.ts'
import { migration, migrations } from '../src/migrations/migrations.ts'
import { aes } from './aes.ts'
import { sql, storesAt } from './schemas.ts'
import { anyServer } from './server.ts'

const server = await anyServer()
const url = server?.url ?? ''
const stores = storesAt(url)
afterAll(async () => {
  await stores.end()
  await server?.end()
})

/** The schemas before sessions had agents. */
const schemas = Array.from({ length: migrations.findIndex((step) => step.includes('sealed_as')) }, (_, i) => i + 1)

/** A store over a schema of an earlier version. */
async function opened(version: number, options: Partial<PostgresOptions>) {
  const store = stores.fresh(options)
  onTestFinished(() => store.close())
  const schema = stores.schemaOf(store)
  await sql(url, migration(schema, 0, version))
  for (const [table, columns] of await oldRows(version, options.encrypt)) {
    const names = Object.keys(columns)
    const places = names.map((_, i) => `$${i + 1}`).join()
    await sql(url, `insert into "${schema}".${table} (${names.join()}) values (${places})`, Object.values(columns))
  }
  return store
}

describe.skipIf(server === undefined).each([
  ['in clear', {}],
  ['sealed', { encrypt: aes() }],
])('a schema of an earlier version, %s', (_, options) => {
  it.each(schemas)('%i gives its sessions to the agent of their last turn, and to no other', async (version) => {
    const store = await opened(version, options)
    await checkOtherAgent(store)
    await checkOwnAgent(store, version)
  })

  it.each(schemas)('%i lists its sessions for their agent before they are opened', async (version) => {
    await checkLists(await opened(version, options))
  })

  it.each(schemas.filter((version) => version >= 4))('%i goes on with its durable runs', async (version) => {
    await checkDurableRun(await opened(version, options))
  })
})
