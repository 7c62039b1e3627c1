import { describe, expect, it } from 'vitest'
import { differences, unsteady } from './compare.ts'
import { everything, generate, type Menu } from './generate.ts'
import { asTest } from './print.ts'
import { shrink } from './shrink.ts'

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

it('no outcome hangs on how many microtasks an await takes', () => explore(1000, 8, everything, unsteady), 60_000)

/** Tries cases from `million` × 1,000,000 on; fails with the smallest form of the first that differs. */
async function explore(cases: number, million: number, menu: Menu, look = differences): Promise<void> {
  for (let seed = million * 1_000_000; seed < million * 1_000_000 + cases; seed++) {
    const plan = generate(seed, menu)
    if ((await look(plan, seed)).length === 0) continue
    const smallest = await shrink(plan, async (plan) => (await look(plan, seed)).length > 0)
    expect.fail(`${asTest(smallest, await look(smallest, seed), `holds for seed ${seed}`)}\n`)
  }
}
