import type { ContentChunk, Pipe } from '@allium/core'
import { type BoundHook, isThenable } from './chain.ts'
import type { HookContext } from './hook-context.ts'

/** Sends a stream through chunk hooks; each receives the output of the previous one. */
export function hookPipe(hooks: readonly BoundHook[], ctx: HookContext): Pipe {
  return async function* (chunks) {
    for await (const chunk of chunks) yield* await runChunkHooks(hooks, ctx, chunk)
  }
}

async function runChunkHooks(
  hooks: readonly BoundHook[],
  ctx: HookContext,
  chunk: ContentChunk,
): Promise<readonly ContentChunk[]> {
  let chunks: readonly ContentChunk[] = [chunk]
  for (const { call } of hooks) {
    const output: ContentChunk[] = []
    for (const current of chunks) {
      const returned = call(ctx, current)
      const result = (isThenable(returned) ? await returned : returned) as
        | ContentChunk
        | readonly ContentChunk[]
        | null
        | undefined
      if (result !== null) output.push(...[result ?? current].flat())
    }
    chunks = output
  }
  return chunks
}
