import { describe, expect, it } from 'vitest'
import { differences } from './compare.ts'
import { everything, generate, type Menu } from './generate.ts'
import { asTest } from './print.ts'
import { shrink } from './shrink.ts'
import { actual } from './world.ts'

/*
 * Cases that a seed makes, each compared with the specification. One that differs is made as small as it gets and
 * printed as a test to copy. More of them: `npm run explore -- --cases 1000000 --seed 1`.
 */
const little: Menu = { late: false, streams: false, tools: false, turns: false }

describe('whatever layers, models and tools do, a run comes to what the specification says', () => {
  it('where nothing is late: retries, fallbacks, skips, blocks, throws in each place', () => explore(2000, 1, little))
  it('where tools run beside each other, are denied, fail or are called again', () =>
    explore(2000, 2, { ...little, tools: true }))
  it('where layers map, pipe, hold, append and replace what is streamed', () =>
    explore(3000, 3, { ...little, streams: true, turns: true }))
  it('where attempts are left, and what is in them acts late', () => explore(4000, 4, { ...little, late: true }))
  it('where tools, or what is around them, are late', () => explore(3000, 5, { ...little, late: true, tools: true }))
  it('where a stream is left in its middle', () =>
    explore(3000, 6, { ...little, late: true, streams: true, turns: true }))
  it('where all of this comes together', () => explore(3000, 7, everything))
})

it('no outcome hangs on how many microtasks an await takes', async () => {
  for (let seed = 8_000_000; seed < 8_000_500; seed++) {
    const plan = generate(seed)
    const [one, other] = [await actual(plan, 1), await actual(plan, 2)]
    expect(other, `seed ${seed}`).toEqual(one)
  }
}, 60_000)

/** Tries cases from `million` × 1,000,000 on; fails with the smallest form of the first that differs. */
async function explore(cases: number, million: number, menu: Menu): Promise<void> {
  const failed: number[] = []
  for (let seed = million * 1_000_000; failed.length === 0 && seed < million * 1_000_000 + cases; seed++)
    if ((await differences(generate(seed, menu), seed)).length > 0) failed.push(seed)
  for (const seed of failed) {
    const fails = async (plan: Parameters<typeof differences>[0]) => (await differences(plan, seed)).length > 0
    const plan = await shrink(generate(seed, menu), fails)
    expect.fail(`${asTest(plan, await differences(plan, seed), `holds for seed ${seed}`)}\n`)
  }
}
