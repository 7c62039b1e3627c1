import { mock, weather } from '../sides/mock.mjs'
import { timed } from '../timed.mjs'

const depth = 100
const count = 150

/** What the core of each scope gives, and every layer passes on. */
const given = {
  turn: () => undefined,
  model: () => ({
    text: 'Hello Hello ',
    toolCalls: [],
    finishReason: 'stop',
    usage: { inputTokens: 10, outputTokens: 5, calls: 1 },
    model: 'mock',
    message: { role: 'assistant', content: 'Hello Hello ' },
  }),
  tool: () => ({ callId: 'call1', content: 'sunny in Rome', status: 'ok' }),
}

/** One no-op layer in an onion of 100: the time of 100 layers less the time of none. @param {'turn' | 'model' | 'tool'} scope */
export function layers(scope) {
  return {
    async 'koa-compose'() {
      const { default: compose } = await import('koa-compose')
      const core = async () => given[scope]()
      return perLayer((layers) => {
        const run = compose(layers)
        return () => run({}, core)
      })
    },
    async allium() {
      const { everythingOn } = await import('../sides/allium.mjs')
      const model = mock({ steps: scope === 'tool' ? 1 : 0 })
      return perLayer(async (layers) => {
        const hooks = layers.map((hook, i) => ({ name: `layer${i}`, [scope]: hook }))
        const agent = await everythingOn({ model, tools: [weather], layers: hooks })
        return () => agent.session().run('Hi')
      })
    },
  }
}

/** @param onionOf makes what runs an onion of these layers once */
async function perLayer(onionOf) {
  let entered = 0
  let samples = 0
  const layer = async (_, next) => {
    entered++
    return await next()
  }
  const none = await onionOf([])
  const deep = await onionOf(Array.from({ length: depth }, () => layer))
  return {
    async sample() {
      samples++
      const without = await timed(count, none)
      return ((await timed(count, deep)) - without) / depth
    },
    check: () => ({ entered: entered / samples }),
    once: deep,
    per: depth,
  }
}
