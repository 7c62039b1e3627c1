/** Numbers from 0 to below 1 that a seed fixes (mulberry32). */
export function random(seed: number): () => number {
  let a = seed >>> 0
  return () => {
    a = (a + 0x6d2b79f5) >>> 0
    let t = Math.imul(a ^ (a >>> 15), a | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Waits some microtasks, 0 to 40. */
export async function microtasks(next: () => number): Promise<void> {
  // Few are the common case: most orders are decided by the first ones.
  const n = Math.floor(next() ** 3 * 41)
  for (let i = 0; i < n; i++) await undefined
}
