import { mock } from '../sides/mock.mjs'
import { tally } from '../sides/tally.mjs'
import { timed } from '../timed.mjs'

const texts = 1000
const depth = 10
const model = mock({ texts })

let passed = 0
const map = (chunk) => {
  passed++
  return chunk
}
async function* pipe(chunks) {
  for await (const chunk of chunks) {
    if (chunk.type !== 'finish') passed++
    yield chunk
  }
}
const ten = (value) => Array.from({ length: depth }, () => value)

/** One chunk of 1,000 through ten `onChunk` layers, or ten plain functions. */
export const maps = {
  functions: () => throughLoop(20, { maps: ten(map) }),
  allium: () => throughLayers(20, (ctx) => ctx.onChunk(map)),
}

/** One chunk of 1,000 through ten `pipe` layers, or ten plain async generators. */
export const pipes = {
  generators: () => throughLoop(4, { pipes: ten(pipe) }),
  allium: () => throughLayers(4, (ctx) => ctx.pipe(pipe)),
}

async function throughLoop(count, transforms) {
  const { conversation, loop } = await import('../sides/loop.mjs')
  return perChunk(count, () => loop({ model, ...transforms }, conversation(), 'Hi'))
}

async function throughLayers(count, transform) {
  const { everythingOn } = await import('../sides/allium.mjs')
  const layers = ten(undefined).map((_, i) => ({
    name: `layer${i}`,
    async model(ctx, next) {
      transform(ctx)
      return next()
    },
  }))
  const agent = await everythingOn({ model, layers })
  return perChunk(count, () => agent.session().run('Hi'))
}

function perChunk(count, run) {
  const { add, each, check } = tally()
  const turn = async () => add(await run())
  return {
    sample: async () => (await timed(count, turn)) / texts,
    check: () => ({ ...check(), ...each({ passed }) }),
    once: turn,
    per: texts,
  }
}
