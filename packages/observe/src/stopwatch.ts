import type { Clock, ModelContext } from '@allium/core'

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

/** Notes the time at which the first chunk of a model call passes; to be called before `next()`. */
export function firstChunkOf(
  ctx: Pick<ModelContext, 'onChunk'>,
  elapsed: () => number | undefined,
): () => number | undefined {
  let passed = false
  let first: number | undefined
  ctx.onChunk(() => {
    if (!passed) first = elapsed()
    passed = true
  })
  return () => first
}
