/** Microseconds of CPU that one `work` takes, of `count` in a row: what other programs take of the machine does not count. */
export async function timed(count, work) {
  const start = process.cpuUsage()
  for (let i = 0; i < count; i++) await work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / count
}

/** @param {number[]} numbers */
export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
