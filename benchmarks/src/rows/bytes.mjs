import { PerformanceObserver } from 'node:perf_hooks'
import { setImmediate as later } from 'node:timers/promises'
import { getHeapStatistics } from 'node:v8'
import { mock, weather } from '../sides/mock.mjs'
import { tally } from '../sides/tally.mjs'

const steps = 20
const count = 100

/** Bytes that a tool step allocates: those of turns of 20 less those of turns of none. Needs room for all of them. */
export const bytes = {
  async loop() {
    const { conversation, loop } = await import('../sides/loop.mjs')
    const tools = new Map([[weather.name, weather]])
    return perStep((model) => () => loop({ model, tools }, conversation(), 'Hi'))
  },
  async allium() {
    const { everythingOn } = await import('../sides/allium.mjs')
    return perStep(async (model) => {
      const agent = await everythingOn({ model, tools: [weather] })
      return () => agent.session().run('Hi')
    })
  },
}

async function perStep(turnOf) {
  const { add, check } = tally()
  const long = await turnOf(mock({ steps }))
  const short = await turnOf(mock())
  return {
    sample: async () => ((await allocated(count, long, add)) - (await allocated(count, short, add))) / steps,
    check,
  }
}

/** Bytes that one `work` allocates, of `count` in a row: the heap grows by them as long as nothing is collected. */
export async function allocated(count, work, take = () => {}) {
  let collections = 0
  const observer = new PerformanceObserver((list) => (collections += list.getEntries().length))
  globalThis.gc()
  await later()
  observer.observe({ entryTypes: ['gc'] })
  const before = getHeapStatistics().used_heap_size
  for (let i = 0; i < count; i++) take(await work())
  const after = getHeapStatistics().used_heap_size
  await later()
  await later()
  observer.disconnect()
  if (collections > 0) throw new Error('There was a collection: give more room with --min-semi-space-size.')
  return (after - before) / count
}
