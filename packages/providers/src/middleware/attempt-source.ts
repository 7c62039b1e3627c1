import type { ContentChunk, ModelResponse } from '@allium/core'
import type { AiSdkModel } from '../ai-sdk-model.ts'
import type { StreamPart } from './ai-sdk-middleware.ts'
import type { Originals } from './originals.ts'
import { Parts } from './to-parts.ts'

type End = () => Promise<{ response?: ModelResponse; error?: unknown }>

/** The stream of one attempt for a middleware: parts of the AI SDK, read from the pipe on demand. */
export class AttemptSource {
  readonly #chunks: AsyncIterator<ContentChunk>
  readonly #end: End
  readonly #parts: Parts
  readonly #queue: StreamPart[] = []
  #filling: Promise<void> | undefined
  #onAbandon = () => {}
  /** Resolves once no more of the middleware's output goes through this attempt. */
  readonly abandoned: Promise<undefined>
  isAbandoned = false
  isDone = false
  /** A `doGenerate` reads it, so none of it is seen before its end. */
  isBuffered = false
  /** The attempt that replaced this one after a reset by an inner layer. */
  next: AttemptSource | undefined
  failure: { error: unknown } | undefined
  /** Its successful end, in the form for the middleware. */
  finishPart: StreamPart | undefined
  chunks: ContentChunk[] | undefined

  constructor(chunks: AsyncIterable<ContentChunk>, end: End, facade: AiSdkModel, originals: Originals) {
    this.#chunks = chunks[Symbol.asyncIterator]()
    this.#end = end
    this.#parts = new Parts(facade, originals)
    this.abandoned = new Promise((resolve) => {
      this.#onAbandon = () => resolve(undefined)
    })
  }

  /** Abandons this attempt because another one follows. */
  abandon(): void {
    this.isAbandoned = true
    this.#onAbandon()
  }

  /**
   * Returns the stream for `doStream`.
   *
   * @throws the error that occurred before the first chunk
   */
  async stream(): Promise<ReadableStream<StreamPart>> {
    await this.#fill()
    if (this.failure !== undefined && this.#queue.length === 0) throw this.failure.error
    return new ReadableStream<StreamPart>(
      {
        start: (controller) => controller.enqueue({ type: 'stream-start', warnings: [] }),
        pull: async (controller) => {
          while (this.#queue.length === 0 && !this.isDone) await this.#fill()
          for (const part of this.#queue.splice(0)) controller.enqueue(part)
          if (!this.isDone) return
          if (this.failure !== undefined) controller.enqueue({ type: 'error', error: this.failure.error })
          controller.close()
        },
      },
      { highWaterMark: 0 },
    )
  }

  /**
   * Returns all parts, for `doGenerate`.
   *
   * @throws the error of the attempt
   */
  async readAll(): Promise<StreamPart[]> {
    this.isBuffered = true
    this.chunks = []
    await this.drain()
    if (this.next !== undefined) return this.next.readAll()
    if (this.failure !== undefined) throw this.failure.error
    return this.#queue.splice(0)
  }

  /** Reads the remaining chunks, so that the inner layers can end. */
  async drain(): Promise<void> {
    while (!this.isDone) await this.#fill()
  }

  #fill(): Promise<void> {
    this.#filling ??= this.#read().finally(() => {
      this.#filling = undefined
    })
    return this.#filling
  }

  async #read(): Promise<void> {
    const { done, value } = await this.#chunks.next()
    if (done !== true) {
      this.chunks?.push(value)
      this.#queue.push(...this.#parts.of(value))
      return
    }
    const outcome = await this.#end()
    this.isDone = true
    if (outcome.response === undefined) this.failure = { error: outcome.error }
    else {
      this.#queue.push(...this.#parts.finish(outcome.response))
      this.finishPart = this.#queue.at(-1)
    }
  }
}
