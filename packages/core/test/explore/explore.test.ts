import { describe, expect, it } from 'vitest'
import type { Case } from './case.ts'
import { type Difference, differences, kindDifferences, unsteady } from './compare.ts'
import { exhaustive, exhaustiveCases } from './exhaustive.ts'
import { everything, generate, type Menu } from './generate.ts'
import type { Kind } from './kinds.ts'
import { stackDifferences, stackOf } from './packs.ts'
import { asTest } from './print.ts'
import { shrink } from './shrink.ts'

/*
 * 20,000 cases that a seed makes. One that is wrong is made as small as it gets and printed as a test to copy.
 * More of them: `npm run explore -- --cases 1000000 --seed 1`.
 */
const little: Menu = { late: false, streams: false, tools: false, turns: false }

const slow = { timeout: 120_000 }
/** `npm run mutate` tries each change on a part of the cases. */
const share = Number(process.env.EXPLORE_SHARE ?? 1)

describe('whatever layers, models and tools do, a run comes to what the specification says', slow, () => {
  it('where nothing is late: retries, fallbacks, skips, blocks, throws in each place', () => explore(2000, 1, little))
  it('where tools run beside each other, are denied, fail or are called again', () =>
    explore(2000, 2, { ...little, tools: true }))
  it('where layers map, pipe, hold, append and replace what is streamed', () =>
    explore(3000, 3, { ...little, streams: true, turns: true }))
  it('where attempts are left, and what is in them acts late', () => explore(4000, 4, { ...little, late: true }))
  it('where tools, or what is around them, are late', () => explore(2500, 5, { ...little, late: true, tools: true }))
  it('where a stream is left in its middle', () =>
    explore(2500, 6, { ...little, late: true, streams: true, turns: true }))
  it('where all of this comes together', () => explore(1500, 7, everything))
  it('in some of all the small stacks', async () => {
    for (let i = 0; i < exhaustiveCases * share; i += 8191)
      await holds(exhaustive(i), differences, { title: `small stack ${i}` })
  })
})

describe(
  'stream, response and history agree, calls have results, streams are closed, the next turn works',
  slow,
  () => {
    const kinds: Kind[] = ['approval', 'output', 'sub-agent', 'provider tool']
    it.each(kinds)('with %s in the turn', async (kind) => {
      for (let seed = 9_000_000; seed < 9_000_000 + 250 * share; seed++)
        await holds(generate(seed), (plan) => kindDifferences(kind, plan, seed), {
          title: `holds for seed ${seed}`,
          look: `kindDifferences('${kind}', plan, ${seed})`,
        })
    })
  },
)

it(
  'fallback, retry and timeout come to the first whole answer, and to nothing else, around the other real layers',
  slow,
  async () => {
    for (let seed = 0; seed < 700 * share; seed++) {
      const stack = stackOf(seed)
      const found = await stackDifferences(stack, seed)
      const options = { title: `holds for stack ${seed}`, look: 'stackDifferences(plan)', type: 'Stack' }
      if (found.length > 0) expect.fail(asTest(stack, found, options))
    }
  },
)

it('no outcome hangs on how many microtasks an await takes', slow, async () => {
  for (let seed = 8_000_000; seed < 8_000_000 + 700 * share; seed++)
    await holds(generate(seed), unsteady, { title: `is steady for seed ${seed}`, look: 'unsteady(plan)' })
})

/** Tries cases from `million` × 1,000,000 on. */
async function explore(cases: number, million: number, menu: Menu): Promise<void> {
  for (let seed = million * 1_000_000; seed < million * 1_000_000 + cases * share; seed++) {
    const look = (plan: Case) => differences(plan, seed)
    await holds(generate(seed, menu), look, { title: `holds for seed ${seed}`, look: `differences(plan, ${seed})` })
  }
}

/** Fails with the smallest form of a case in which something is wrong. */
async function holds(
  plan: Case,
  look: (plan: Case) => Promise<readonly Difference[]>,
  options: { title: string; look?: string },
): Promise<void> {
  if ((await look(plan)).length === 0) return
  const smallest = await shrink(plan, async (plan) => (await look(plan)).length > 0)
  expect.fail(`\n${asTest(smallest, await look(smallest), options)}\n`)
}
