import type { ContentChunk, ModelResponse } from '@allium/core'
import type { AiSdkModel } from '../ai-sdk-model.ts'
import type { StreamPart } from './ai-sdk-middleware.ts'
import type { Originals } from './originals.ts'
import { Parts } from './to-parts.ts'

type End = () => Promise<{ response?: ModelResponse; error?: unknown }>

/** What one attempt streams, for a middleware to read: parts of the AI SDK, read from the pipe as they are asked for. */
export class AttemptSource {
  readonly #chunks: AsyncIterator<ContentChunk>
  readonly #end: End
  readonly #parts: Parts
  readonly #queue: StreamPart[] = []
  #filling: Promise<void> | undefined
  #onAbandon = () => {}
  /** Settles once no more of what the middleware says goes through this attempt. */
  readonly abandoned: Promise<undefined>
  isAbandoned = false
  isDone = false
  /** A `doGenerate` reads it: nothing of it has been seen before its end. */
  isBuffered = false
  /** It was taken back inside, and begins anew with this one. */
  next: AttemptSource | undefined
  failure: { error: unknown } | undefined
  /** How it ended well, as the middleware is told. */
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

  /** Another attempt follows. */
  abandon(): void {
    this.isAbandoned = true
    this.#onAbandon()
  }

  /**
   * As `doStream` gives it.
   *
   * @throws what failed before the first chunk
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
   * All of it, as `doGenerate` wants it.
   *
   * @throws what the attempt failed with
   */
  async readAll(): Promise<StreamPart[]> {
    this.isBuffered = true
    this.chunks = []
    await this.drain()
    if (this.next !== undefined) return this.next.readAll()
    if (this.failure !== undefined) throw this.failure.error
    return this.#queue.splice(0)
  }

  /** Reads what nobody has read yet, so that what is inside can end. */
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
