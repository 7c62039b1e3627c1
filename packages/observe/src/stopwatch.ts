import type { Clock, ModelContext } from '@allium/core'

/** Tells the milliseconds since it was made; undefined where the clock fails, for a watcher must never break what it watches. */
export function stopwatch(clock: Clock): () => number | undefined {
  try {
    const startedAt = clock.monotonic()
    return () => {
      try {
        return clock.monotonic() - startedAt
      } catch {
        return undefined
      }
    }
  } catch {
    return () => undefined
  }
}

/** Notes the time at which the first chunk of a model call passes; to be called before `next()`. */
export function firstChunkOf(
  ctx: Pick<ModelContext, 'onChunk'>,
  elapsed: () => number | undefined,
): () => number | undefined {
  let hasStarted = false
  let firstChunk: number | undefined
  ctx.onChunk(() => {
    if (!hasStarted) firstChunk = elapsed()
    hasStarted = true
  })
  return () => firstChunk
}
