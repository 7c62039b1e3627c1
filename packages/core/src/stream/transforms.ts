import { AlliumError } from '../errors/allium-error.ts'
import { describe } from '../errors/describe.ts'
import type { ContentChunk } from '../model/chunk.ts'
import type { ModelResponse } from '../model/response.ts'
import { isContentKind } from './chunk-kinds.ts'

/** Maps, drops (null) or expands (an array) a chunk. Return nothing to pass the chunk on unchanged. Synchronous. */
export type OnChunk = (chunk: ContentChunk) => ContentChunk | readonly ContentChunk[] | null | undefined | void
/**
 * Rewrites the stream of a call. A pipe may hold text back, for patterns that span chunks. `await end()` resolves when
 * the source has ended, with the response of the inner layers or with an error. It is an error, too, when the call was
 * abandoned; the output of the pipe is then dropped.
 */
export type Pipe = (chunks: AsyncIterable<ContentChunk>, end: () => Promise<StreamEnd>) => AsyncIterable<ContentChunk>
/** How a stream ended. In a turn hook, each model call ends separately. */
export type StreamEnd =
  | { readonly response: ModelResponse; readonly error?: never }
  | { readonly error: unknown; readonly response?: never }

/** The transforms that one layer registered before its next(). */
export interface Transforms {
  readonly steps: ({ map: OnChunk } | { pipe: Pipe })[]
  hold: boolean
}

/** @throws AlliumError `layer.result` unless the chunk is one that a layer may send */
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
