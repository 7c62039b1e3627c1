import * as guard from '@allium/guard'
import * as memory from '@allium/memory'
import * as model from '@allium/model'
import * as observe from '@allium/observe'
import { memoryStore } from '@allium/store'
import { mock } from './mock.mjs'

/** What stands behind a SaaS backend, outermost first: sixteen layers, in an order that `agent.check()` has nothing to say to. */
export const stack = {
  onion: () => observe.onion(),
  'timeout of the turn': () => guard.timeout({ turn: 300_000, as: 'guard:timeout:turn' }),
  rateLimit: () => guard.rateLimit({ limit: 1e9, per: 'tenant', window: 'minute' }),
  pii: () => guard.pii(),
  injection: () => guard.injection(),
  persist: () => memory.persist({ store: forgetful() }),
  audit: () => observe.audit({ sink: () => {} }),
  log: () => observe.log({ logger: silent }),
  cache: () => model.cache(),
  fallback: () => model.fallback({ models: [mock()] }),
  retry: () => model.retry(),
  'timeout of model and chunk': () => guard.timeout({ model: 60_000, chunk: 30_000, as: 'guard:timeout:model' }),
  breaker: () => model.breaker(),
  'timeout of a tool': () => guard.timeout({ tool: 60_000, as: 'guard:timeout:tool' }),
  budget: () => guard.budget({ limit: 1e12, unit: 'tokens', per: 'tenant' }),
  usage: () => observe.usage(),
}

const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** A store that forgets a session once its run has ended, so that it costs the thousandth what it cost the first. */
function forgetful() {
  const store = memoryStore()
  return {
    ...store,
    async release(lease) {
      await store.release(lease)
      await store.delete(lease.key)
    },
  }
}
