import { mock } from '../sides/mock.mjs'
import { timed } from '../timed.mjs'

const depth = 100
const count = 150

/** One no-op layer in an onion of 100: the time of 100 layers less the time of none. @param {'turn' | 'model'} scope */
export function layers(scope) {
  return {
    async 'koa-compose'() {
      const { default: compose } = await import('koa-compose')
      const answer = Promise.resolve('answer')
      return perLayer((layers) => {
        const run = compose(layers)
        return () => run({}, () => answer)
      })
    },
    async allium() {
      const { bare } = await import('../sides/allium.mjs')
      return perLayer(async (layers) => {
        const hooks = layers.map((hook, i) => ({ name: `layer${i}`, [scope]: hook }))
        const agent = await bare({ model: mock(), layers: hooks })
        return () => agent.session().run('Hi')
      })
    },
  }
}

/** @param onionOf makes what runs an onion of these layers once */
async function perLayer(onionOf) {
  let entered = 0
  const layer = async (_, next) => {
    entered++
    return await next()
  }
  const none = await onionOf([])
  const deep = await onionOf(Array.from({ length: depth }, () => layer))
  return {
    async sample() {
      const without = await timed(count, none)
      return ((await timed(count, deep)) - without) / depth
    },
    check: () => ({ entered }),
  }
}
