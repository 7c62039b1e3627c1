import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Life } from './random/life.ts'
import { workflowCases } from './random/plans.ts'

/** `ALLIUM_WORKFLOWS=500 ALLIUM_SEED=7` tries more, and others. */
const numRuns = Number(process.env.ALLIUM_WORKFLOWS ?? 25)
const seed = Number(process.env.ALLIUM_SEED ?? 2)

it('no kill and no deploy repeats or hides a step of a random workflow', async () => {
  const counted = { cases: 0, kills: 0, stops: 0, effects: 0 }
  const property = fc.asyncProperty(workflowCases, async (of) => {
    const { wrong, kills, stops, result } = await new Life(of).play()
    counted.cases++
    counted.kills += kills
    counted.stops += stops
    counted.effects += result.length
    expect(wrong).toEqual([])
  })
  await fc.assert(property, { numRuns, seed })
  if (process.env.ALLIUM_WORKFLOWS !== undefined) console.log(counted)
  expect([counted.kills > 0, counted.stops > 0, counted.effects > 0]).toEqual([true, true, true])
}, 3_600_000)
