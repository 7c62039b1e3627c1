import { Agent, type Middleware } from '@allium/core'
import { manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { leaves, lingers } from '../../testing/test/late.ts'
import { cache, fallback } from '../src/index.ts'

/** Runs turns whose first model call is left after 50 ms, and comes back after another 500. */
function scene(layers: readonly unknown[], steps: ScriptedStep[]) {
  const clock = manualClock()
  const model = scriptedModel(steps, { id: 'main/0' })
  const agent = new Agent({ model, clock, logger: { warn() {}, error() {} } })
  agent.use([leaves(50), ...(layers as Middleware[]), lingers(500)])
  const ask = async (until: number) => {
    const run = agent.run('hi', { session: { principal: { tenantId: 'acme' } } })
    for (let ms = 0; ms < until; ms += 10) await clock.advance(10)
    return run
  }
  return { ask, clock, model }
}

it('model.cache: a call that is made again does not wait until the one that was left has come back', async () => {
  const { ask, clock, model } = scene([cache()], [{ stall: true }, 'Done.'])
  const run = ask(1000)
  while (clock.now() < 200) await clock.advance(0)
  expect(model.calls).toBe(2)
  expect((await run).text).toBe('Done.')
})

it('model.cache: what is cached is the answer of the call that was not left', async () => {
  const { ask, model } = scene([cache()], [{ chunks: ['Lost'], stall: true }, 'Done.'])
  expect([(await ask(1000)).text, (await ask(100)).text, model.calls]).toEqual(['Done.', 'Done.', 2])
})

it('model.fallback: each attempt begins with the model that it was given', async () => {
  const other = scriptedModel(['Other.'], { id: 'other/0' })
  const { ask, model } = scene([fallback({ models: [other] })], [{ stall: true }, new Error('down')])
  expect([(await ask(1000)).text, model.calls, other.calls]).toEqual(['Other.', 2, 1])
})
