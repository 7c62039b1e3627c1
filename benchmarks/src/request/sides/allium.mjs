import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { fromAiSdk } from '@allium/providers'
import { server } from '@allium/server'
import { serve } from '@allium/server/node'
import { sqlite } from '@allium/store-sqlite'
import { Agent } from 'allium'
import * as guard from 'allium/guard'
import * as memory from 'allium/memory'
import * as model from 'allium/model'
import * as observe from 'allium/observe'
import { encrypt } from './encrypt.mjs'
import { weather } from './tool.mjs'

/** Allium's server with a SQLite store and no layers. */
export function plain({ url, file }) {
  const store = sqlite(file)
  return listen(agentOf(url, store), store)
}

/** The same with the layers of a backend for many tenants. */
export function layered({ url, file }, options = {}) {
  const store = sqlite(file, options)
  return listen(withLayers(agentOf(url, store)), store)
}

/** The same on any store. Returns its port and a function that closes it. */
export function layeredOn(store, url) {
  return listen(withLayers(agentOf(url, store)), store)
}

/** The same with an encrypted store. Durable runs with a redacting layer need one. */
export function encrypted(place) {
  return layered(place, { encrypt })
}

/** The same as durable runs. */
export async function durableLayered({ url, file }) {
  const { durable } = await import('@allium/durable')
  const store = sqlite(file, { encrypt })
  const agent = withLayers(agentOf(url, store))
  return listen(agent, store, { durable: durable(agent, { store }) })
}

function agentOf(url, store) {
  const provider = createOpenAICompatible({ name: 'mock', baseURL: url, apiKey: 'none', includeUsage: true })
  return new Agent({ version: '1', model: fromAiSdk(provider('mock')), store, tools: [weather] })
}

function withLayers(agent) {
  return agent
    .use(guard.rateLimit({ limit: 1e9, per: 'tenant', window: 'minute' }))
    .use(guard.pii())
    .use(memory.compact({ trigger: { tokens: 1e6 } }))
    .use(model.retry())
    .use(guard.budget({ limit: 1e12, unit: 'tokens', per: 'tenant' }))
    .use(observe.usage())
}

async function listen(agent, store, options = {}) {
  const principal = (request) => {
    const tenantId = request.headers.get('authorization')?.slice('Bearer '.length)
    return tenantId && { tenantId, userId: 'ann' }
  }
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
