/** Less than this many milliseconds is noise. */
const noise = 5

/**
 * Returns how many times as much CPU the work takes for the large size as for the small one. A ratio within one process holds on a
 * slow machine, too. Other work can only distort a measurement, so the pair repeats, at most eight times, until it is below `limit`.
 */
export async function growth(work: (size: number) => unknown, small: number, large: number, limit: number) {
  await work(small)
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < 8 && least >= limit; i++) {
    const [of, to] = [await cpuOf(() => work(small)), await cpuOf(() => work(large))]
    least = Math.min(least, Math.max(to, noise) / Math.max(of, noise))
  }
  return least
}

/** Milliseconds of CPU of this process. Time that other processes take does not count. */
async function cpuOf(work: () => unknown): Promise<number> {
  const start = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}
