import type { ModelContext } from '@allium/core'

/** Returns a function that says whether any chunk has left this layer. */
export function trackOutput(ctx: Pick<ModelContext, 'onChunk'>): () => boolean {
  let hasOutput = false
  ctx.onChunk(() => {
    hasOutput = true
  })
  return () => hasOutput
}
