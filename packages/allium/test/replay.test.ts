import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { watchDigests } from './killed/clock.ts'
import { layerKinds } from './killed/layers.ts'
import { planOf } from './killed/plan.ts'
import { difference } from './killed/play.ts'

const cases = Number(process.env.CASES ?? 300)

let release = () => {}
beforeAll(async () => {
  release = watchDigests()
  // What layers load with their first call is loaded once; virtual time does not wait for that.
  for (let seed = 1; seed <= 3; seed++) await difference({ ...planOf(seed), layers: layerKinds, inner: [] })
})
afterAll(() => release())

describe('a turn that is killed after a step and goes on in another process', () => {
  it('ends as the one that was not killed, and does again nothing that was recorded', async () => {
    const bad: number[] = []
    const kinds = new Map<string, number>()
    for (let seed = 1; seed <= cases; seed++) {
      const plan = planOf(seed)
      const differs = await difference(plan)
      if (differs === undefined) continue
      bad.push(seed)
      for (const kind of new Set([...plan.layers, ...plan.inner])) kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
      if (bad.length <= Number(process.env.SHOW ?? 3)) console.log(seed, JSON.stringify(plan), JSON.stringify(differs))
    }
    console.log(
      cases - bad.length,
      'of',
      cases,
      JSON.stringify([...kinds].sort((a, b) => b[1] - a[1])),
      bad.slice(0, 20),
    )
    expect(bad).toEqual([])
  }, 120_000)
})
