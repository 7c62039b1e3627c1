import { Agent, delay, type Middleware } from '@allium/core'
import { manualClock, scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { leaves } from '../../testing/test/late.ts'
import type { Entry } from '../src/adapter/hooks.ts'
import { Loops } from '../src/adapter/loop.ts'
import { loopLayer } from '../src/adapter/loop-layer.ts'
import { bash, callsBash } from './kit.ts'

it('the end of an iteration is told to its end before the next call, though the first call that told of it was left', async () => {
  const clock = manualClock()
  const told: string[] = []
  const entry: Entry<'afterLoopIteration'> = {
    label: 'afterLoopIteration[0]',
    policy: undefined,
    timeout: 1000,
    async run({ iteration }) {
      told.push(`${iteration} begins`)
      if (told.length === 1) await delay(80, clock, new AbortController().signal)
      told.push(`${iteration} ends`)
    },
  }
  const model = scriptedModel([
    ...callsBash().slice(0, 1),
    () => {
      told.push('model')
      return 'Done.'
    },
  ])
  const { model: leave } = leaves(50)
  const loops = new Loops({ hooks: { afterLoopIteration: [entry] }, maxIterations: 5 })
  const agent = new Agent({ model, tools: [bash()], clock })
  agent.use({ name: 'leaves', model: leave } as Middleware).use(loopLayer(loops))
  const run = agent.run('hi')
  for (let i = 0; i < 20; i++) await clock.advance(10)
  await run
  // The first one was cut off with its call; the other told of the same end before the model was asked again.
  expect(told.slice(0, 6)).toEqual(['0 begins', '0 begins', '0 ends', 'model', '1 begins', '1 ends'])
})
