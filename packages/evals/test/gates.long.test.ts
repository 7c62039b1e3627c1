import { describe, expect, it } from 'vitest'
import { plan, plannedDraws, verdictRates } from '../src/statistics/plan.ts'
import { Decider } from '../src/statistics/verdicts.ts'
import { worldNames } from '../src/statistics/worlds.ts'

const trials = 3

describe('at a true drop of exactly maxDrop', () => {
  const decider = new Decider()

  it.each(worldNames)('at most 67 of 1,000 gates in the world "%s" pass, and at most 67 fail', (world) => {
    const { pass, fail } = verdictRates({
      decider,
      world,
      cases: 40,
      trials,
      drop: 0.1,
      maxDrop: 0.1,
      runs: 1000,
      seed: 1,
    })
    expect(pass).toBeLessThanOrEqual(0.067)
    expect(fail).toBeLessThanOrEqual(0.067)
  })
})

describe('plan()', () => {
  const { worlds } = plan({ units: 60, maxDrop: 0.06, drop: 0.2, trials })
  const decider = new Decider({ draws: plannedDraws })

  it.each(worldNames)('says how often a gate fails and passes in the world "%s", within 3 points', (world) => {
    const comparison = { decider, world, cases: 60, trials, maxDrop: 0.06, runs: 4000, seed: 77 }
    const { fail } = verdictRates({ ...comparison, drop: 0.2 })
    const { pass } = verdictRates({ ...comparison, drop: 0 })
    expect(Math.abs(worlds[world].fails - fail)).toBeLessThanOrEqual(0.03)
    expect(Math.abs(worlds[world].passes - pass)).toBeLessThanOrEqual(0.03)
  })
})
