import { beforeAll, expect, it } from 'vitest'
import { watchDigests } from './clock.ts'
import { layerKinds } from './layers.ts'
import { planOf } from './plan.ts'
import { difference } from './play.ts'

/** A tenth of `npm run killed`. */
const perTest = 50
const blocks = Array.from({ length: 2 }, (_, i) => i * perTest + 1)

/** What is imported at its first use is there before virtual time begins. */
beforeAll(async () => {
  const unwatch = watchDigests()
  for (let seed = 1; seed <= 3; seed++) await difference({ ...planOf(seed), layers: layerKinds, inner: [] })
  // A slow machine can take longer for a first import than the clock waits, so the first plans run once without a verdict.
  for (let seed = 1; seed <= 12; seed++) await difference(planOf(seed))
  return unwatch
}, 60_000)

it.each(blocks)(
  'random onions of the packs, killed at a random step and replayed with empty caches, come to what they had come to: seeds from %i on',
  async (from) => {
    for (let seed = from; seed < from + perTest; seed++)
      expect(await difference(planOf(seed)), `npm run killed -- ${seed} ${seed} 1`).toBeUndefined()
  },
  120_000,
)
