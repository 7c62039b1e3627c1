import fc from 'fast-check'
import { expect, it } from 'vitest'
import { deployCases, deployed } from './deploy-case.ts'

/** `ALLIUM_DEPLOYS=1000 ALLIUM_SEED=7` tries more, and others. */
const numRuns = Number(process.env.ALLIUM_DEPLOYS ?? 80)
const seed = Number(process.env.ALLIUM_SEED ?? 1)

it('no deploy repeats or hides an effect of a run that was killed at any step', async () => {
  let stopped = 0
  await fc.assert(
    fc.asyncProperty(deployCases, async (of) => {
      const { ended, wrong, changed } = await deployed(of)
      if (changed) stopped++
      expect(wrong).toEqual([])
      expect(['completed', 'suspended']).toContain(ended.status)
    }),
    { numRuns, seed },
  )
  expect(stopped).toBeGreaterThan(0)
}, 300_000)
