import type { ContentChunk } from '@allium/core'
import type { StreamPart } from './ai-sdk-middleware.ts'
import { keyOf } from './key-of.ts'

/** The chunks that parts were made of: one that a middleware lets through keeps what the AI SDK has no word for. */
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
