import { AlliumError } from '../errors/allium-error.ts'
import { describe } from '../errors/describe.ts'
import type { ContentChunk } from '../model/chunk.ts'
import type { ModelResponse } from '../model/response.ts'

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
  if (type === 'text-delta' || contentKinds.has(type)) return value as ContentChunk
  const what = type === undefined ? describe(value) : `a chunk of the type ${describe(type)}`
  throw new AlliumError(
    'layer.result',
    `Layer "${layer}" sent ${what} into the stream. It takes text-delta, reasoning-delta, tool-input-*, file and source chunks. Use ctx.pipe() for async work.`,
    { details: { layer } },
  )
}

/** Maps a text stream. Text held back by one push is returned by a later one, or by `end`. */
export interface DisplayText {
  push(piece: string): string
  end(): string
}

/** Changes the stream that passes a layer. Call these before next(). */
export interface StreamVerbs {
  /** Maps, drops (null) or expands each chunk, synchronously. Return nothing to pass a chunk on unchanged. */
  onChunk(fn: OnChunk): void
  /** Sends the stream through an async generator, which may hold text back. Each attempt gets a new one. */
  pipe(fn: Pipe): void
  /** Holds the stream until this layer returns, so that the layer can rewrite the answer. */
  hold(): void
}

const kinds: Record<ContentChunk['type'], true> = {
  'text-delta': true,
  'reasoning-delta': true,
  'tool-input-start': true,
  'tool-input-delta': true,
  'tool-input-end': true,
  'tool-result': true,
  file: true,
  source: true,
  custom: true,
}

/** The types of the chunks that pass through the layers. */
export const contentKinds: ReadonlySet<unknown> = new Set(Object.keys(kinds))

/** Receives the chunks of one model call. */
export interface Sink {
  /** Returns a promise if the sender has to wait before the next chunk. */
  push(chunk: ContentChunk): void | Promise<void>
  /** Discards the chunks so far, because a new attempt starts. */
  reset(): void
  /** Whether a chunk arrived since the last reset. */
  readonly used: boolean
  /** Whether the chunks can still be discarded before a reader sees them, because a `hold` buffers them. */
  readonly open: boolean
}

/** Sends several chunks in order and respects backpressure. */
export function pushAll(sink: Pick<Sink, 'push'>, chunks: readonly ContentChunk[], from = 0): void | Promise<void> {
  for (let i = from; i < chunks.length; i++) {
    const backpressure = sink.push(chunks[i] as ContentChunk)
    if (backpressure !== undefined) return backpressure.then(() => pushAll(sink, chunks, i + 1))
  }
}
