import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { build } from './kit.ts'

it('tells in the stack of a mistake in a layer where that was given to use()', () => {
  const child = fileURLToPath(new URL('./places.child.ts', import.meta.url))
  const flags = ['--conditions=@allium/source', '--import=tsx']
  const stack = execFileSync(process.execPath, [...flags, child], { encoding: 'utf8' })
  expect(stack).toMatch(/where "floats" was given to use\(\):\n {4}at .*places\.child\.ts:\d+:\d+/)
})

it('leaves the depth of all other stacks as it was', () => {
  const before = Error.stackTraceLimit
  build(['hi']).agent.use({ name: 'floats', turn: (_, next) => next() })
  expect(Error.stackTraceLimit).toBe(before)
})
