import type { ContentChunk, Pipe } from '@allium/core'
import { type BoundHook, isThenable } from './chain.ts'
import type { HookContext } from './hook-context.ts'

/** Sends a stream through chunk hooks, each getting what the one before let through. */
export function throughHooks(hooks: readonly BoundHook[], ctx: HookContext): Pipe {
  return async function* (chunks) {
    for await (const chunk of chunks) yield* await through(hooks, ctx, chunk)
  }
}

async function through(
  hooks: readonly BoundHook[],
  ctx: HookContext,
  chunk: ContentChunk,
): Promise<readonly ContentChunk[]> {
  let chunks: readonly ContentChunk[] = [chunk]
  for (const { call } of hooks) {
    const left: ContentChunk[] = []
    for (const one of chunks) {
      const said = call(ctx, one)
      const given = (isThenable(said) ? await said : said) as ContentChunk | readonly ContentChunk[] | null | undefined
      if (given !== null) left.push(...(given === undefined ? [one] : Array.isArray(given) ? given : [given]))
    }
    chunks = left
  }
  return chunks
}
