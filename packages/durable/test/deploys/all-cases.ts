import fc from 'fast-check'
import { expect } from 'vitest'
import { type DeployCase, deployCases } from './cases.ts'
import type { Deployed } from './deploy-case.ts'

/** `ALLIUM_DEPLOYS=1000 ALLIUM_SEED=7` tries more, and others. */
const seed = Number(process.env.ALLIUM_SEED ?? 1)
const numberOfCases = (usual: number) => Number(process.env.ALLIUM_DEPLOYS ?? usual)

/** Tries cases, several at a time. Returns how many lost their process, were stopped, and were moved. A case that fails is shrunk. */
export async function tryCases(
  play: (of: DeployCase) => Promise<Deployed>,
  { usual, lanes = 1 }: { usual: number; lanes?: number },
): Promise<Readonly<Record<'cases' | 'lost' | 'stopped' | 'moved', number>>> {
  const counted = { cases: 0, lost: 0, stopped: 0, moved: 0 }
  const property = fc.asyncProperty(deployCases, async (of) => {
    const { status, wrong, isLost, isStopped, isMoved } = await play(of)
    counted.cases++
    if (isLost) counted.lost++
    if (isStopped) counted.stopped++
    if (isMoved) counted.moved++
    expect(wrong).toEqual([])
    expect(['completed', 'suspended', 'diverged']).toContain(status)
  })
  const numRuns = Math.ceil(numberOfCases(usual) / lanes)
  const lane = (_: unknown, i: number) => fc.assert(property, { numRuns, seed: seed + i })
  await Promise.all(Array.from({ length: lanes }, lane))
  if (process.env.ALLIUM_DEPLOYS !== undefined) console.log(counted)
  return counted
}
