import type { ModelContext } from '@allium/core'

/** Tells whether any chunk has left this layer. */
export function watchChunks(ctx: Pick<ModelContext, 'onChunk'>): () => boolean {
  let any = false
  ctx.onChunk(() => {
    any = true
  })
  return () => any
}
