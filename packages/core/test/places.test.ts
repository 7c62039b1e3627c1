import { expect, it } from 'vitest'
import type { Middleware } from '../src/index.ts'
import { build } from './kit.ts'

const floats: Middleware = {
  name: 'floats',
  turn(_, next) {
    void next()
  },
}

it('tells in the stack of a mistake in a layer where that was given to use()', async () => {
  const { agent } = build(['hi'])
  agent.use(floats)
  const error = (await agent.run('go').then(undefined, (error) => error)) as Error
  expect(error).toMatchObject({ code: 'layer.floating_next' })
  expect(error.stack).toMatch(/where "floats" was given to use\(\):\n {4}at .*places\.test\.ts:\d+:\d+/)
})

it('leaves the depth of all other stacks as it was', () => {
  const before = Error.stackTraceLimit
  build(['hi']).agent.use(floats)
  expect(Error.stackTraceLimit).toBe(before)
})
