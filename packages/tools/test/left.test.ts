import { Agent, type Middleware } from '@allium/core'
import { manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { leaves, lingers } from '../../testing/test/late.ts'
import { cache, emulate } from '../src/index.ts'

/** An agent whose first tool call is left after 50 ms, and comes back after another 500. */
function scene(layer: unknown) {
  const clock = manualClock()
  let ran = 0
  const look = {
    name: 'look',
    description: 'Looks',
    jsonSchema: {},
    execute: () => (++ran === 1 ? new Promise(() => {}) : `found ${ran}`),
  }
  const steps: ScriptedStep[] = [{ toolCalls: [{ name: 'look' }] }, 'Done.', { toolCalls: [{ name: 'look' }] }, 'Done.']
  const marks: unknown[] = []
  const marked: Middleware = {
    name: 'marked',
    async turn(ctx, next) {
      await next()
      marks.push(ctx.metadata['tools:emulate'])
    },
  }
  const { tool: leave } = leaves(50)
  const layers = [
    marked,
    { name: 'leaves', tool: leave },
    layer,
    { ...lingers(500), model: undefined, innermost: true },
  ]
  const agent = new Agent({ model: scriptedModel(steps), tools: [look], clock }).use(layers as Middleware[])
  const ask = async (principal = { userId: 'ann' }) => {
    const run = agent.run('go', { session: { principal } })
    for (let ms = 0; ms < 1000; ms += 10) await clock.advance(10)
    return (await run).toolCalls.map(({ result }) => result.content)
  }
  return { ask, clock, marks, ran: () => ran }
}

it('tools.cache: a call that is made again does not wait for the one that was left, and its result is kept', async () => {
  const { ask, clock, ran } = scene(cache({ tools: ['look'] }))
  const first = ask()
  while (clock.now() < 100) await clock.advance(0)
  expect(ran()).toBe(2)
  expect([await first, await ask(), ran()]).toEqual([['found 2'], ['found 2'], 2])
})

it('tools.emulate: a call that is made again is marked once', async () => {
  const model = scriptedModel([{ stall: true }, 'played'])
  const { ask, marks } = scene(emulate({ model }))
  expect([await ask(), marks]).toEqual([['played'], [['call-1']]])
})
