import type { Usable } from '@allium/core'
import type { SessionStore } from '@allium/store'
import { memoryLedger, memoryStore } from '@allium/store'
import * as guard from '../../src/guard.ts'
import * as memory from '../../src/memory.ts'
import * as model from '../../src/model.ts'
import * as observe from '../../src/observe.ts'
import * as tools from '../../src/tools.ts'

export interface SoakedLayer {
  make(): Usable
  /** What bounds that which it keeps from one turn to the next. */
  bound: string
}

const nothing = 'keeps nothing'
/** So small that the soak reaches them: what is kept is at its bound before the first measure. */
const few = 20

/** The layers of the packs, in an order that the order check takes. */
export const layers: Record<string, SoakedLayer> = {
  'observe.onion': { make: () => observe.onion({ maxTurns: few }), bound: `${few} turns (default 100)` },
  'observe.duration': { make: () => observe.duration(), bound: nothing },
  'observe.tools': { make: () => observe.tools(), bound: nothing },
  'guard.pii': { make: () => guard.pii({ types: ['email'] }), bound: 'the placeholders of 10,000 sessions' },
  'guard.content': { make: () => guard.content({ keywords: ['gunpowder'] }), bound: nothing },
  'guard.input': { make: () => guard.input({ check: (text) => !text.includes('forbidden') }), bound: nothing },
  'memory.persist': {
    make: () => memory.persist({ store: forgetful(), anonymous: true, lease: 60_000 }),
    bound: 'what its store keeps',
  },
  'observe.audit': { make: () => observe.audit({ sink: () => {} }), bound: '10,000 records that wait for the sink' },
  'observe.log': { make: () => observe.log({ logger: silent }), bound: nothing },
  'guard.rateLimit': {
    make: () => guard.rateLimit({ limit: 1e9, per: 'tenant', window: 'minute' }),
    bound: 'a record for each key of the window',
  },
  'guard.timeout': { make: () => guard.timeout({ turn: 20_000 }), bound: nothing },
  'memory.truncate': { make: () => memory.truncate({ maxMessages: 20 }), bound: nothing },
  'model.cache': {
    make: () => model.cache({ store: model.memoryKeyValue({ max: few }) }),
    bound: `${few} answers (default 1,000)`,
  },
  'guard.output': { make: () => guard.output({ check: (text) => !text.includes('forbidden') }), bound: nothing },
  'model.retry': { make: () => model.retry({ attempts: 2, delay: 1 }), bound: nothing },
  'model.breaker': { make: () => model.breaker({ threshold: 1e9 }), bound: '1,000 circuits' },
  'guard.concurrency': { make: () => guard.concurrency({ limit: 1000 }), bound: '1,000 calls that wait' },
  'guard.budget': {
    make: () =>
      guard.budget({
        limit: 1e12,
        unit: 'tokens',
        per: 'tenant',
        ledger: memoryLedger({ maxSettled: few }),
        estimate: () => ({ inputTokens: 5, outputTokens: 5 }),
      }),
    bound: `accounts whose window is over, from 100,000 on; ${few} settled ids in all (default 200,000)`,
  },
  'observe.usage': { make: () => observe.usage(), bound: nothing },
  'guard.injection': { make: () => guard.injection(), bound: nothing },
  'guard.flow': { make: () => guard.flow(), bound: nothing },
  'guard.policy': { make: () => guard.policy({ deny: ['drop_table'] }), bound: nothing },
  'tools.cache': {
    make: () => tools.cache({ tools: ['look'], store: model.memoryKeyValue({ max: few }) }),
    bound: `${few} results (default 1,000)`,
  },
  'tools.retry': { make: () => tools.retry({ tools: ['look'], delay: 1 }), bound: nothing },
}

const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** A store of which only the long session counts: that of all others goes when their run has ended. */
function forgetful(): SessionStore {
  const store = memoryStore()
  return {
    ...store,
    async release(lease) {
      await store.release(lease)
      if (lease.key.sessionId !== 'long') await store.delete(lease.key)
    },
  }
}
