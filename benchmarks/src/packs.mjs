import * as guard from '@allium/guard'
import * as memory from '@allium/memory'
import * as model from '@allium/model'
import * as observe from '@allium/observe'
import * as tools from '@allium/tools'
import { bare } from './sides/allium.mjs'
import { mock, weather } from './sides/mock.mjs'
import { median, timed } from './timed.mjs'

// What a layer adds to "model → tool → model": two model calls and a tool call. `node packs.mjs [name]…`

const layers = {
  'guard.budget': () => guard.budget({ limit: 1e9 }),
  'guard.rateLimit': () => guard.rateLimit({ limit: 1e9, window: 'minute' }),
  'guard.pii': () => guard.pii(),
  'guard.policy': () => guard.policy({ deny: ['drop'] }),
  'guard.approve': () => guard.approve({ handler: () => true }),
  'guard.timeout': () => guard.timeout({ turn: 60_000, model: 60_000, tool: 60_000 }),
  'model.retry': () => model.retry(),
  'model.fallback': () => model.fallback({ models: [mock()] }),
  'model.cache': () => model.cache({ when: ({ sessionId }) => sessionId !== '' }),
  'observe.usage': () => observe.usage(),
  'observe.log': () => observe.log({ logger: { debug() {}, info() {}, warn() {}, error() {} } }),
  'observe.onion': () => observe.onion(),
  'observe.audit': () => observe.audit({ sink: () => {} }),
  'memory.truncate': () => memory.truncate({ messages: 20 }),
  'memory.persist': () => memory.persist(),
  'tools.truncate': () => tools.truncate(),
}

const wanted = process.argv.slice(2)
const rounds = 40
const none = await turnsWith([])
console.log('µs that a layer adds to a turn of two model calls and a tool call\n')
for (const [name, layer] of Object.entries(layers)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const one = await turnsWith([layer()])
  const differences = []
  for (let round = 0; round < rounds + 10; round++) {
    const [without, with_] = [await none(), await one()]
    if (round >= 10) differences.push(with_ - without)
  }
  console.log(`${name.padEnd(18)}${median(differences).toFixed(1).padStart(8)}`)
}

/** @param {object[]} layers */
async function turnsWith(layers) {
  const agent = await bare({ model: mock({ steps: 1 }), tools: [weather], layers })
  return () => timed(100, () => agent.session({ principal: { tenantId: 'acme' } }).run('Hi'))
}
