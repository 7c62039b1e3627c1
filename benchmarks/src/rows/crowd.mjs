import { setTimeout as sleep } from 'node:timers/promises'
import { mock } from '../sides/mock.mjs'
import { tally } from '../sides/tally.mjs'

const runs = 2000
const ms = 50
const model = mock({ wait: () => sleep(ms) })

/** 2,000 runs at once on a model that takes 50 ms: what they take beyond it. */
export const crowd = {
  async loop() {
    const { conversation, loop } = await import('../sides/loop.mjs')
    return over(() => loop({ model }, conversation(), 'Hi'))
  },
  async allium() {
    const { everythingOn } = await import('../sides/allium.mjs')
    const agent = await everythingOn({ model })
    return over(() => agent.session().run('Hi'))
  },
}

function over(run) {
  const { add, check } = tally()
  return {
    async sample() {
      const start = performance.now()
      const results = await Promise.all(Array.from({ length: runs }, run))
      const taken = performance.now() - start
      for (const result of results) add(result)
      return taken - ms
    },
    check,
  }
}
