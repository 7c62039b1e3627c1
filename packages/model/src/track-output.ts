import type { ModelContext } from '@allium/core'

/** Tells whether any chunk has left this layer. */
export function trackOutput(ctx: Pick<ModelContext, 'onChunk'>): () => boolean {
  let hasOutput = false
  ctx.onChunk(() => {
    hasOutput = true
  })
  return () => hasOutput
}
