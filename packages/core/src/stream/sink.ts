import type { ContentChunk } from '../model/chunk.ts'

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
