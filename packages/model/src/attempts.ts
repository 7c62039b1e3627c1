import { isBlockError, type ModelContext } from '@allium/core'

/** Whether the run is over with this error: no other attempt may follow, whatever a layer's options say. */
export function isFinal(error: unknown): boolean {
  return isBlockError(error) || (error as { name?: unknown } | null | undefined)?.name === 'AbortError'
}

/** Tells whether any chunk has left this layer. */
export function watchChunks(ctx: Pick<ModelContext, 'onChunk'>): () => boolean {
  let any = false
  ctx.onChunk(() => {
    any = true
  })
  return () => any
}
