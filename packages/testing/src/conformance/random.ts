export interface Random {
  /** Returns an integer from 0 to below `n`. */
  below(n: number): number
  pick<T>(items: readonly T[]): T
}

/** Returns random numbers that are the same for the same seed, so that a failure can be repeated (mulberry32). */
export function seeded(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (n: number) => Math.floor(next() * n)
  return { below, pick: (items) => items[below(items.length)] as never }
}
