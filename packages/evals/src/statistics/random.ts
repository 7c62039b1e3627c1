/**
 * Returns a generator of numbers in [0, 1) that always yields the same ones for a seed (sfc32 by Chris Doty-Humphrey, PractRand).
 * Verdicts must not differ between two runs over the same scores, so `Math.random()` is out of the question.
 */
export function seededRandom(seed: number): () => number {
  let [a, b, c, counter] = [0, seed | 0, (seed / 0x1_0000_0000) | 0, 1]
  const next = () => {
    const sum = (a + b + counter++) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + sum
    return (sum >>> 0) / 0x1_0000_0000
  }
  // The first outputs of neighboring seeds are alike.
  for (let i = 0; i < 12; i++) next()
  return next
}
