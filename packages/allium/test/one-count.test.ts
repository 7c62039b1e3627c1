import { describe, expect, it } from 'vitest'
import { planOf } from './one-count/plan.ts'
import { play } from './one-count/world.ts'

const cases = 400

describe('what runs have used', () => {
  it('is one count: result, turn:end, budgets, usage, trace and metrics tell what the models say', async () => {
    for (let seed = 1; seed <= cases; seed++) {
      const plan = planOf(seed)
      const { told, expected } = await play(plan)
      expect(told, JSON.stringify(plan)).toEqual(expected)
    }
  }, 60_000)
})
