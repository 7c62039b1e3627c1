/** Microseconds of one `work`, of `count` in a row. */
export async function timed(count, work) {
  const start = performance.now()
  for (let i = 0; i < count; i++) await work()
  return ((performance.now() - start) / count) * 1000
}

/** @param {number[]} numbers */
export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
