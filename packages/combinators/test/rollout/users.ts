import { addScore, noCounts, type RolloutCounts } from '../../src/rollout.ts'

export interface World {
  readonly users: number
  /** Of users, for the canary. */
  readonly share: number
  /** The mean score of the baseline. */
  readonly mean: number
  /** By how much that of the canary is lower. */
  readonly drop: number
}

/** Turns of a user that count. */
const window = 5

/** Adds one user after the other, and returns after how many of the canary it stops. Undefined if it never does. */
export function stopsAfter(world: World, isStop: (counts: RolloutCounts) => boolean, random: () => number) {
  const counts = { canary: noCounts(), baseline: noCounts() }
  let canaryUsers = 0
  for (let user = 1; user <= world.users; user++) {
    const arm = random() < world.share ? 'canary' : 'baseline'
    if (arm === 'canary') canaryUsers++
    addScore(counts[arm], scoreOf(world.mean - (arm === 'canary' ? world.drop : 0), random), random)
    // The users of the baseline move the verdict less, so every fifth of them is enough.
    if ((arm === 'canary' || user % 5 === 0) && isStop(counts)) return canaryUsers
  }
  return undefined
}

/** The share of a user's turns that succeed. Each user has a rate, and few users make most turns. */
function scoreOf(mean: number, random: () => number): number {
  const rate = betaOf(mean * 20, (1 - mean) * 20, random)
  const turns = Math.min(window, Math.floor(3 * (1 - random()) ** (-1 / 1.1)))
  let successes = 0
  for (let turn = 0; turn < turns; turn++) if (random() < rate) successes++
  return successes / turns
}

/** Numbers from 0 to below 1, the same for the same seed. Mulberry32. */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function betaOf(a: number, b: number, random: () => number): number {
  const x = gammaOf(a, random)
  return x / (x + gammaOf(b, random))
}

/** Marsaglia and Tsang, "A simple method for generating gamma variables" (2000), for shapes of at least 1. */
function gammaOf(shape: number, random: () => number): number {
  const d = shape - 1 / 3
  const c = 1 / Math.sqrt(9 * d)
  for (;;) {
    const x = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
    const v = (1 + c * x) ** 3
    if (v > 0 && Math.log(1 - random()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v
  }
}
