import type { Middleware } from '@allium/core'
import { manualClock, type ScriptedStep } from '@allium/testing'
import { expect, it } from 'vitest'
import { injection, maxModelCalls, pii, policy } from '../../../guard/src/index.ts'
import { plan } from '../../../memory/src/index.ts'
import { cache, promptCache as marks, settings } from '../../../model/src/index.ts'
import { duration, usage } from '../../src/index.ts'
import { type Layer, tool } from '../scene.ts'
import { calls, lorem, watched } from './watching.ts'

/** Pseudo-random numbers below 1, the same in each run. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}

let calledAt = 0
const reminder: Middleware = {
  name: 'reminder',
  model(ctx, next) {
    ctx.addMessage({ role: 'user', content: `It is ${calledAt++}. ${lorem(60, `reminder${calledAt}`)}` })
    return next()
  },
}
const handbook: Middleware = {
  name: 'handbook',
  model(ctx, next) {
    ctx.addSystemMessage(lorem(60, 'chapter'))
    return next()
  },
}
const retrying: Middleware = { name: 'retrying', model: (_, next) => next().catch(() => next()) }
const copying: Middleware = {
  name: 'copying',
  model(ctx, next) {
    ctx.messages = ctx.messages.map((message) => structuredClone(message))
    return next()
  },
}

/** Layers that keep the beginning of requests. */
const stable: readonly (() => Layer | readonly Layer[])[] = [
  () => pii(),
  () => usage(),
  () => policy({ deny: ['x'] }),
  () => reminder,
  () => marks({ minTokens: 1, when: () => true }),
  () => cache(),
  () => plan(),
  () => injection({ secret: 's', detectors: [() => 0] }),
  () => handbook,
  () => copying,
  () => maxModelCalls({ limit: 1_000 }),
  () => settings({ overrides: { temperature: 0 } }),
  () => duration(),
]

function turnOf(random: () => number): ScriptedStep[] {
  const tools = Array.from({ length: Math.floor(random() * 4) }, () => (random() < 0.5 ? 'search' : 'book'))
  const failure = random() < 0.1 ? [Object.assign(new Error('busy'), { status: 503 })] : []
  return [...tools.map((name, i) => calls(name, i)), ...failure, lorem(5 + random() * 20, 'answer')]
}

it.each(Array.from({ length: 20 }, (_, i) => i))('names no layer in 10 stable turns of the agent %i', async (seed) => {
  const random = randomFrom(seed + 1)
  const layers = [retrying, ...stable.flatMap((create) => (random() < 0.7 ? create() : []))]
  const steps = Array.from({ length: 10 }, () => turnOf(random)).flat()
  const { agent, events, model } = watched(layers, steps, {
    tools: [tool('search', () => lorem(15, 'found')), tool('book')],
    clock: manualClock(),
  })
  const statuses = new Set<string>()
  let session = agent.session({ id: 's' })
  for (let turn = 0; turn < 10; turn++) {
    const run = session.run(`Mail ada${turn}@example.com about ${lorem(random() * 10, `topic${turn}`)}`)
    if (random() < 0.2) void run.steer(`And ${turn}`)
    statuses.add((await run).status)
    if (random() < 0.3) {
      const snapshot = JSON.parse(JSON.stringify(session.snapshot()))
      await session.close()
      session = agent.session({ id: 's' })
      session.restore(snapshot)
    }
  }
  expect([events, [...statuses]]).toEqual([[], ['completed']])
  expect(model.requests.length).toBeGreaterThan(10)
})
