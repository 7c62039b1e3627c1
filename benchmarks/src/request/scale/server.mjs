import { alliumOn } from '../sides/allium.mjs'
import { packagesOf } from '../sides/checkout.mjs'

// A server with all layers on SQLite or Postgres, in a separate process. The runner asks it by IPC for its CPU time and memory.
// With a folder, its packages are those of an earlier checkout.

const [kind, place, url, folder] = process.argv.slice(2)
const schema = folder === undefined ? 'now' : 'earlier'
const load = folder === undefined ? (name) => import(name) : packagesOf(folder)
const { port, close } = await alliumOn(await storeOf(), { url, layers: true, load })

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
  if (kind === 'sqlite') return (await load('@allium/store-sqlite')).sqlite(place)
  const store = (await load('@allium/store-postgres')).postgres({ url: place, schema })
  await store.ready()
  return store
}
