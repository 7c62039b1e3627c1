import type { ContentChunk } from '../model/chunk.ts'

/** Takes the chunks of one model call. */
export interface Sink {
  /** A promise asks the sender to wait before the next chunk. */
  push(chunk: ContentChunk): void | Promise<void>
  /** Forgets what came: a new attempt begins. */
  reset(): void
  /** Whether anything came since the last reset. */
  readonly used: boolean
  /** Whether what came can still be taken back unseen, because a `hold` keeps it. */
  readonly open: boolean
}

/** Sends several chunks in order, waiting where the sink asks to. */
export function pushAll(sink: Pick<Sink, 'push'>, chunks: readonly ContentChunk[], from = 0): void | Promise<void> {
  for (let i = from; i < chunks.length; i++) {
    const backpressure = sink.push(chunks[i] as ContentChunk)
    if (backpressure !== undefined) return backpressure.then(() => pushAll(sink, chunks, i + 1))
  }
}
