import { Agent, defineTool, type Model } from '@allium/core'
import { durable } from '@allium/durable'
import { persist } from '@allium/memory'
import { sqlite } from '@allium/store-sqlite'
import { server } from '../../src/index.ts'
import { serve } from '../../src/node.ts'

/** A server for the tests of deploys, in a process of its own: `node deployed.js <port> <file of the store>`. */
const [port = '', file = ''] = process.argv.slice(2)

/**
 * Answers in three steps of ten words, each in a fraction of a second. The first two call a tool. A step that another process repeats says
 * the same again.
 */
const model: Model = {
  id: 'slow',
  async *stream({ messages }) {
    const step = messages.length - messages.findLastIndex(({ role }) => role === 'user')
    for (let word = 0; word < 10; word++) {
      yield { type: 'text-delta', delta: `w${messages.length}-${word} ` }
      await new Promise((resolve) => setTimeout(resolve, 15))
    }
    const isLast = step === 5
    if (!isLast) {
      const callId = `call-${messages.length}`
      yield { type: 'tool-input-start', callId, name: 'go_on' }
      yield { type: 'tool-input-end', callId, args: {} }
    }
    yield { type: 'finish', reason: isLast ? 'stop' : 'tool-calls', usage: { inputTokens: 1, outputTokens: 10 } }
  },
}
const goOn = defineTool({ name: 'go_on', description: 'd', jsonSchema: { type: 'object' }, execute: () => 'Go on.' })

const store = sqlite(file)
const agent = new Agent({ name: 'slow', version: '1', model, tools: [goOn], logger: { warn() {}, error() {} } })
agent.use(persist({ store: store.sessions }))
const runs = durable(agent, { store, lease: 1000 })
const principal = ({ headers }: Request) => ({ tenantId: 'acme', userId: String(headers.get('authorization')) })
const app = server(agent, { principal, durable: runs, heartbeat: 1000, logger: { warn() {}, error() {} } })
await serve({ ...app, hosts: [] }, { port: Number(port), drainTimeout: 200 })
