import { AlliumError } from '../errors/allium-error.ts'
import { describe } from '../errors/describe.ts'
import type { ContentChunk } from '../model/chunk.ts'
import type { ModelResponse } from '../model/response.ts'
import { isContentKind } from './chunk-kinds.ts'

/** Maps, drops (null) or expands (an array) a chunk; nothing returned means the chunk as it is. Synchronous. */
export type OnChunk = (chunk: ContentChunk) => ContentChunk | readonly ContentChunk[] | null | undefined | void
/**
 * Rewrites the stream of a call; may hold text back, for patterns across chunk edges. `await end()` tells how the stream that
 * feeds it has ended: with the response of what is inside, or with an error, also where the call was left and nothing that
 * the pipe yields is taken any more.
 */
export type Pipe = (chunks: AsyncIterable<ContentChunk>, end: () => Promise<StreamEnd>) => AsyncIterable<ContentChunk>
/** How a stream ended. In a turn hook each model call has an end of its own. */
export type StreamEnd =
  | { readonly response: ModelResponse; readonly error?: never }
  | { readonly error: unknown; readonly response?: never }

/** What one layer asked for before its next(). */
export interface Transforms {
  readonly steps: ({ map: OnChunk } | { pipe: Pipe })[]
  hold: boolean
}

/** Throws unless a layer sent a chunk that may flow between layers. */
export function checkChunk(value: unknown, layer: string): ContentChunk {
  const type = typeof value === 'object' && value !== null ? (value as { type?: unknown }).type : undefined
  if (type === 'text-delta' || isContentKind(type)) return value as ContentChunk
  const what = type === undefined ? describe(value) : `a chunk of the type ${describe(type)}`
  throw new AlliumError(
    'layer.result',
    `Layer "${layer}" sent ${what} into the stream. It takes text-delta, reasoning-delta, tool-input-*, file and source chunks. Use ctx.pipe() for async work.`,
    { details: { layer } },
  )
}
