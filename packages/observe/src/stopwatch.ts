import type { Clock, ModelContext } from '@allium/core'
import { ignoreErrors } from './ignore-errors.ts'

/** Returns a function that returns the elapsed milliseconds; undefined if the clock fails, because an observer must never fail the run. */
export function stopwatch(clock: Clock): () => number | undefined {
  const startedAt = ignoreErrors(() => clock.monotonic())
  return () => (startedAt === undefined ? undefined : ignoreErrors(() => clock.monotonic() - startedAt))
}

/** Records when the first chunk of a model call passes. Must be called before `next()`. */
export function firstChunkOf(
  ctx: Pick<ModelContext, 'onChunk'>,
  elapsed: () => number | undefined,
): () => number | undefined {
  let firstChunk: number | undefined
  ctx.onChunk(() => {
    firstChunk ??= elapsed()
  })
  return () => firstChunk
}
