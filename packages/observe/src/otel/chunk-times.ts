import type { ModelContext } from '@allium/core'

/** When the chunks of a model call passed, in milliseconds. */
export interface ChunkTimes {
  /** From the begin of the call. */
  first: number | undefined
  /** Between two chunks. */
  readonly between: number[]
}

/** Records when chunks with output pass. Must be called before `next()`. */
export function chunkTimesOf(ctx: Pick<ModelContext, 'onChunk'>, elapsed: () => number | undefined): ChunkTimes {
  const times: ChunkTimes = { first: undefined, between: [] }
  let last: number | undefined
  ctx.onChunk(() => {
    const now = elapsed()
    times.first ??= now
    if (now !== undefined && last !== undefined && times.between.length < maxChunks) times.between.push(now - last)
    last = now
  })
  return times
}

/** An answer that is longer is measured by its beginning. */
const maxChunks = 10_000
