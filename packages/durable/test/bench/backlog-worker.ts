import { Agent } from '@allium/core'
import { persist } from '@allium/memory'
import { sqlite } from '@allium/store-sqlite'
import { postgres } from '../../../store-postgres/src/index.ts'
import { durable } from '../../src/index.ts'
import { slowModel } from './slow-model.ts'

/** A process that runs a backlog: opens the store, then starts and stops when its parent says so. */
const { kind, path, url, schema, concurrency, duration } = JSON.parse(process.argv[2] ?? '{}')
const store = kind === 'sqlite' ? sqlite(path) : postgres({ url, schema })
const agent = new Agent({ version: '1', model: slowModel(duration), logger: { warn() {}, error: console.error } }).use(
  persist({ store: store.sessions }),
)
await store.sessions.list({ tenant: '', limit: 1 })
process.send?.('ready')
process.once('message', () => {
  const runs = durable(agent as Agent, { store, concurrency })
  void runs.recover()
  process.once('message', async () => {
    await runs.drain()
    await store.close()
    process.exit()
  })
})
