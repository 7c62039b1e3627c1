import type { ContentChunk, FinishChunk } from '@allium/core'
import type { AiSdkModel } from '../ai-sdk-model.ts'
import { ProviderTools } from '../provider-tools.ts'
import { StreamParts } from '../stream-parts.ts'
import type { Originals } from './originals.ts'
import { PartOrder } from './part-order.ts'

/** How a middleware's output has ended. */
export type OutputEnd = { finish: FinishChunk; error?: never } | { error: unknown; finish?: never }

interface Reader {
  read(): Promise<{ done: boolean; value?: unknown }>
  cancel(reason?: unknown): Promise<void>
}

/** The output of one run of a middleware, read on demand and stored, because another attempt begins with the earlier output. */
export class MiddlewareOutput {
  readonly #reader: Promise<Reader>
  readonly #order: PartOrder
  readonly #parts: StreamParts
  readonly #originals: Originals
  readonly #log: ContentChunk[] = []
  #pulling: Promise<void> | undefined
  end: OutputEnd | undefined

  constructor(stream: Promise<unknown>, layer: string, facade: AiSdkModel, originals: Originals) {
    this.#reader = stream.then((source) => (source as { getReader(): Reader }).getReader())
    this.#reader.catch(() => {})
    this.#order = new PartOrder(layer)
    this.#parts = new StreamParts(facade, new ProviderTools([]))
    this.#originals = originals
  }

  get chunks(): readonly ContentChunk[] {
    return this.#log
  }

  /** Returns a chunk by its number; undefined after the end. */
  async at(index: number): Promise<ContentChunk | undefined> {
    while (index >= this.#log.length && this.end === undefined) await this.#pull()
    return this.#log[index]
  }

  /** Cancels the output because it has no reader any more. */
  abandon(reason: unknown): void {
    this.end ??= { error: reason }
    this.#reader.then((reader) => reader.cancel(reason)).catch(() => {})
  }

  #pull(): Promise<void> {
    this.#pulling ??= this.#read()
      .catch((error: unknown) => {
        this.abandon(error)
      })
      .finally(() => {
        this.#pulling = undefined
      })
    return this.#pulling
  }

  async #read(): Promise<void> {
    const reader = await this.#reader
    const { done, value } = await reader.read()
    if (this.end !== undefined) return
    if (done) {
      const finalChunks = this.#parts.end()
      this.#log.push(...(finalChunks.slice(0, -1) as ContentChunk[]))
      this.end = { finish: finalChunks.at(-1) as FinishChunk }
      return
    }
    const part = this.#order.check(value)
    if (part === undefined) return
    const original = this.#originals.of(part)
    this.#log.push(...(original === undefined ? this.#parts.chunks(part) : [original]))
  }
}
