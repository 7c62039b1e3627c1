import { Agent, memoryStore } from 'allium'
import * as guard from 'allium/guard'
import * as memory from 'allium/memory'
import * as model from 'allium/model'
import * as observe from 'allium/observe'
import * as tools from 'allium/tools'

// What an application has: the packs' layers around a model that fails once, writes an address and asks for tools with raw
// JSON Schemas, once with wrong arguments. It runs on every runtime, so it uses nothing of any.
const asked = []
const scripted = {
  id: 'openai/gpt-5-mini',
  async *stream({ messages }) {
    asked.push(messages.map(({ content }) => JSON.stringify(content)).join('\n'))
    if (asked.length === 1) throw Object.assign(new Error('Busy.'), { status: 503 })
    if (messages.at(-1).role !== 'tool') {
      yield* call('c1', 'add', '{"a":40,"b":2}')
      yield* call('c2', 'add', '{"a":"forty"}')
      yield* call('c3', 'pair', '{"of":[1,"x"]}')
      yield* call('c4', 'pair', '{"of":["x",1]}')
      yield { type: 'finish', reason: 'tool-calls', usage: { inputTokens: 10, outputTokens: 5 } }
    } else {
      yield { type: 'text-delta', delta: 'Sent to ' }
      yield { type: 'text-delta', delta: '[EMAIL_1].' }
      yield { type: 'finish', reason: 'stop', usage: { inputTokens: 20, outputTokens: 5 } }
    }
  },
}

function* call(callId, name, delta) {
  yield { type: 'tool-input-start', callId, name }
  yield { type: 'tool-input-delta', callId, delta }
  yield { type: 'tool-input-end', callId }
}

const number = { type: 'number' }
const add = tools.function({
  name: 'add',
  description: 'Adds two numbers.',
  jsonSchema: { type: 'object', properties: { a: number, b: number }, required: ['a', 'b'] },
  execute: ({ a, b }) => a + b,
})
const pair = tools.function({
  name: 'pair',
  description: 'Takes a number and a text.',
  jsonSchema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    properties: { of: { type: 'array', prefixItems: [number, { type: 'string' }] } },
  },
  execute: ({ of: [, text] }) => text,
})

const records = []
const agent = new Agent({ model: scripted })
  .use(guard.pii())
  .use(observe.audit({ sink: { append: (record) => void records.push(record) } }))
  .use(memory.persist({ store: memoryStore() }))
  .use(guard.rateLimit({ limit: 1, per: 'user' }))
  .use(guard.timeout({ turn: 20_000 }))
  .use(guard.injection())
  .use(guard.content({ keywords: ['forbidden'] }))
  .use(model.retry({ delay: 1 }))
  .use(model.cache())
  .use(guard.budget({ limit: 1, per: 'tenant' }))
  .use(observe.usage())
  .use(tools.retry({ tools: ['add'] }))
  .use(add)
  .use(pair)

/** What a turn with all of these gave, and what became of a second one. */
export async function turn() {
  const session = agent.session({ principal: { tenantId: 'acme', userId: 'dana' } })
  const { status, text, toolCalls, state } = await session.run('Mail to dana@example.com.')
  const second = await session.run('And again.')
  await agent.dispose()
  return {
    status,
    text,
    tools: toolCalls.map(({ result }) => `${result.status}: ${result.content}`),
    retried: state['observe:usage:tokens'].inputTokens,
    spent: state['guard:budget:spent'] > 0,
    hidden: !asked.join().includes('dana@'),
    audited: records.length > 0,
    second: second.status,
  }
}
