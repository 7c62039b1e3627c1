import { expect, it } from 'vitest'
import { directJournal } from '../../src/ports/journal.ts'
import { oneCall, tool, turn } from '../kit.ts'
import { World } from './world.ts'

it('gets each physical step of every run: without that, all tests of this kind would pass', async () => {
  const { world } = directJournal as { world?: unknown }
  const before = world instanceof World ? world.steps : Number.NaN
  await turn(oneCall, [], { tools: [tool('work')] })
  expect(world instanceof World ? world.steps - before : undefined).toBe(3)
})
