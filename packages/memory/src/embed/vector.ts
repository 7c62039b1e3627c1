/** Returns a vector as one signed byte for each dimension. Its length is lost, and its direction stays. */
export function toBytes(vector: readonly number[]): Int8Array {
  const largest = vector.reduce((most, n) => Math.max(most, Math.abs(n)), 0)
  return Int8Array.from(vector, (n) => (largest === 0 ? 0 : Math.round((n / largest) * 127)))
}

/** Returns the cosine of the angle between two vectors of the same dimensions; 0 for a vector without a direction. */
export function cosine(a: Int8Array, b: Int8Array): number {
  let [dot, ofA, ofB] = [0, 0, 0]
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [a[i] as number, b[i] as number]
    dot += x * y
    ofA += x * x
    ofB += y * y
  }
  return ofA === 0 || ofB === 0 ? 0 : dot / Math.sqrt(ofA * ofB)
}
