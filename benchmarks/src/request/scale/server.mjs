import { sqlite } from '@allium/store-sqlite'
import { layeredOn } from '../sides/allium.mjs'

// A server with all layers on SQLite or Postgres, in a separate process. The runner asks it by IPC for its CPU time and memory.

const [kind, place, url] = process.argv.slice(2)
const { port, close } = await layeredOn(await storeOf(), url)

const answers = {
  cpu: () => process.cpuUsage(),
  /** Bytes of live objects, after two collections. */
  async memory() {
    for (let i = 0; i < 2; i++) {
      globalThis.gc()
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    const { rss, heapUsed, external } = process.memoryUsage()
    return { rss, live: heapUsed + external }
  },
}

process.on('message', async (asked) => {
  if (answers[asked] !== undefined) return process.send({ value: await answers[asked]() })
  await close()
  process.disconnect()
  process.exit()
})
process.on('disconnect', () => process.exit())
process.send({ value: port })

async function storeOf() {
  if (kind === 'sqlite') return sqlite(place)
  const { postgres } = await import('@allium/store-postgres')
  const store = postgres({ url: place })
  await store.ready()
  return store
}
