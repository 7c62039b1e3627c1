/**
 * Runs jobs with at most `width` at a time, in their order, and returns the results in this order. After the first error no further job
 * starts, and it rejects with this error once the running ones have ended.
 */
export async function inPool<T, R>(jobs: readonly T[], width: number, run: (job: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array(jobs.length)
  let next = 0
  let failure: { error: unknown } | undefined
  const worker = async () => {
    while (next < jobs.length && failure === undefined) {
      const index = next++
      try {
        results[index] = await run(jobs[index] as T)
      } catch (error) {
        failure ??= { error }
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(width, jobs.length) }, worker))
  if (failure !== undefined) throw failure.error
  return results
}
