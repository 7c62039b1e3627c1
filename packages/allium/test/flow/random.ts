/** Numbers that are the same for the same seed (mulberry32). */
export function randomFrom(seed: number): <T>(of: readonly T[]) => T {
  let state = seed * 0x9e3779b1
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  return (of) => of[Math.floor(next() * of.length)] as (typeof of)[number]
}
