import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { encrypt } from './encrypt.mjs'
import { weather } from './tool.mjs'

/**
 * A server of Allium. `load` imports its packages: those of this checkout, or of an earlier one.
 *
 * @param {{ layers?: boolean, recorded?: boolean, encrypted?: boolean, durable?: boolean, load?: (name: string) => Promise<Record<string, Function>> }} side
 * @param {{ url: string, file: string, synchronous: 'full' | 'normal', ui: boolean }} place
 * @returns its port and a function that closes it
 */
export async function allium({ encrypted, durable, ...side }, { file, synchronous, ...place }) {
  const { load = imported } = side
  const { sqlite } = await load('@allium/store-sqlite')
  const store = sqlite(file, { synchronous, ...(encrypted && { encrypt }) })
  return alliumOn(store, { ...place, ...side, ...(durable && { durable: (await load('@allium/durable')).durable }) })
}

/** The same on any store. */
export async function alliumOn(store, { url, ui, layers, recorded, durable, load = imported }) {
  const [{ Agent }, { fromAiSdk }] = [await load('allium'), await load('@allium/providers')]
  const [{ server }, { serve }] = [await load('@allium/server'), await load('@allium/server/node')]
  const provider = createOpenAICompatible({ name: 'mock', baseURL: url, apiKey: 'none', includeUsage: true })
  const agent = new Agent({ version: '1', model: fromAiSdk(provider('mock')), store, tools: [weather] })
  if (layers) await addLayers(agent, load)
  if (recorded) agent.use((await load('@allium/replay')).record({ store: sealed(store.recordings) }))
  const options = { ...(ui && { uiStream: 7 }), ...(durable && { durable: durable(agent, { store }) }) }
  const served = await serve(server(agent, { principal, ...options }), { port: 0, signals: false })
  return {
    port: Number(new URL(served.url).port),
    async close() {
      await served.close()
      await agent.dispose()
      await store.close()
    },
  }
}

const imported = (name) => import(name)

/** A server would not record next to a layer that redacts, if the store were not sealed. What encryption costs is the row of another side. */
const sealed = (recordings) => ({ sealed: true, add: (...recording) => recordings.add(...recording) })

/** The layers of a backend for many tenants. */
async function addLayers(agent, load) {
  const names = ['guard', 'memory', 'model', 'observe']
  const [guard, memory, model, observe] = await Promise.all(names.map((name) => load(`allium/${name}`)))
  agent
    .use(guard.rateLimit({ limit: 1e9, per: 'tenant', window: 'minute' }))
    .use(guard.pii())
    .use(memory.compact({ trigger: { tokens: 1e6 } }))
    .use(model.retry())
    .use(guard.budget({ limit: 1e12, unit: 'tokens', per: 'tenant' }))
    .use(observe.usage())
}

function principal(request) {
  const tenantId = request.headers.get('authorization')?.slice('Bearer '.length)
  return tenantId && { tenantId, userId: 'ann' }
}
