/** A watcher must never break what it watches. */
export function quietly<T>(watch: () => T): T | undefined {
  try {
    return watch()
  } catch {
    return undefined
  }
}
