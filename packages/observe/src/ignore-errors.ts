/** A watcher must never break what it watches. */
export function ignoreErrors<T>(fn: () => T): T | undefined {
  try {
    return fn()
  } catch {
    return undefined
  }
}
