import type { Clock } from '@allium/core'

/** Tells the milliseconds since it was made; undefined where the clock fails, for a watcher must never break what it watches. */
export function stopwatch(clock: Clock): () => number | undefined {
  try {
    const begun = clock.monotonic()
    return () => {
      try {
        return clock.monotonic() - begun
      } catch {
        return undefined
      }
    }
  } catch {
    return () => undefined
  }
}
