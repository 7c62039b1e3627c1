import type { ContentChunk } from '@allium/core'
import type { StreamPart } from './ai-sdk-middleware.ts'
import { keyOf } from './key-of.ts'

/** The original chunks of parts. A part that a middleware passes through keeps what the AI SDK's form cannot express. */
export class Originals {
  readonly #chunks = new WeakMap<object, { chunk: ContentChunk; key: string }>()

  note(part: StreamPart, chunk: ContentChunk): void {
    this.#chunks.set(part, { chunk, key: keyOf(part) })
  }

  of(part: StreamPart): ContentChunk | undefined {
    const known = this.#chunks.get(part)
    return known?.key === keyOf(part) ? known.chunk : undefined
  }
}
