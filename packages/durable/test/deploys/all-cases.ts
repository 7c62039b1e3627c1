import fc from 'fast-check'
import { expect } from 'vitest'
import { builds, type DeployCase, deployCases } from './cases.ts'
import { type CrashLoop, crashLoops } from './crash-loop.ts'
import type { Deployed } from './deploy-case.ts'

/** `ALLIUM_DEPLOYS=1000 ALLIUM_SEED=7` tries more, and others. With `ALLIUM_DEPLOYS_COUNT=1` it counts all failures instead of stopping. */
const seed = Number(process.env.ALLIUM_SEED ?? 1)
const numberOfCases = (usual: number) => Number(process.env.ALLIUM_DEPLOYS ?? usual)
const countsOnly = process.env.ALLIUM_DEPLOYS_COUNT !== undefined

/** Tries cases, several at a time. Returns how many lost their process, were stopped, and were moved. A case that fails is shrunk. */
export async function tryCases(
  play: (of: DeployCase) => Promise<Deployed>,
  { usual, lanes = 1 }: { usual: number; lanes?: number },
): Promise<Readonly<Record<'cases' | 'lost' | 'stopped' | 'moved', number>>> {
  const counted = { cases: 0, lost: 0, stopped: 0, moved: 0 }
  const failures: string[] = []
  const property = fc.asyncProperty(deployCases, async (of) => {
    const { status, wrong, isLost, isStopped, isMoved } = await play(of)
    counted.cases++
    if (isLost) counted.lost++
    if (isStopped) counted.stopped++
    if (isMoved) counted.moved++
    if (countsOnly && wrong.length > 0) failures.push(`${of.change} (${of.way}, ${of.dieAfter}): ${wrong.join('; ')}`)
    else expect(wrong).toEqual([])
    expect(['completed', 'suspended', 'stopped', 'blocked', 'aborted', 'failed', 'diverged']).toContain(status)
  })
  const numRuns = Math.ceil(numberOfCases(usual) / lanes)
  const lane = (_: unknown, i: number) => fc.assert(property, { numRuns, seed: seed + i, endOnFailure: countsOnly })
  await Promise.all(Array.from({ length: lanes }, lane))
  if (process.env.ALLIUM_DEPLOYS !== undefined) console.log(counted, failures.length)
  if (failures.length > 0) console.log(failures.join('\n'))
  return counted
}

/** Tries runs whose processes are lost in the same step. Each must end with `run.attempts`, or without a step to be lost in. */
export async function tryLoops(
  play: (of: CrashLoop) => Promise<{ code?: string; status?: string; lives: number }>,
  { usual }: { usual: number },
): Promise<void> {
  const ends: string[] = []
  const property = fc.asyncProperty(crashLoops(builds), async (of) => {
    const { code = '', status = '', lives } = await play(of)
    ends.push(`${code || status} after ${lives}`)
    if (!countsOnly) expect(code || status).toMatch(/^(run\.attempts|completed)$/)
  })
  await fc.assert(property, { numRuns: Math.ceil(numberOfCases(usual * 10) / 10), seed })
  if (countsOnly) console.log(ends)
}
