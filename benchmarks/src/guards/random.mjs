/** Numbers from 0 up to 1, the same for the same seed (mulberry32). @param {number} seed */
export function random(seed) {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  const below = (count) => Math.floor(next() * count)
  const pick = (list) => list[below(list.length)]
  const chars = (count, from) => Array.from({ length: count }, () => from[below(from.length)]).join('')
  return { below, pick, chars }
}
