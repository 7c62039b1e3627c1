import fc from 'fast-check'
import { expect, it } from 'vitest'
import { deployCases, deployed } from './deploy-case.ts'

/** `ALLIUM_DEPLOYS=1000 ALLIUM_SEED=7` tries more, and others. */
const numRuns = Number(process.env.ALLIUM_DEPLOYS ?? 80)
const seed = Number(process.env.ALLIUM_SEED ?? 1)

it('no deploy repeats or hides an effect of a run that was killed at any step', async () => {
  let [stopped, moved] = [0, 0]
  await fc.assert(
    fc.asyncProperty(deployCases, async (of) => {
      const { ended, wrong, isStopped, isMoved } = await deployed(of)
      if (isStopped) stopped++
      if (isMoved) moved++
      expect(wrong).toEqual([])
      expect(['completed', 'suspended']).toContain(ended.status)
    }),
    { numRuns, seed },
  )
  expect(moved).toBeGreaterThan(0)
  expect(stopped).toBeGreaterThan(moved)
}, 300_000)
