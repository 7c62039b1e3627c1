import type { ContentChunk } from '../model/chunk.ts'
import type { Sink } from './sink.ts'
import { checkChunk, type Pipe } from './transforms.ts'

/** Pushes chunks through an async generator: what it yields goes on to `out`. At most one chunk waits in front of it. */
export class PipeLink implements Pick<Sink, 'push'> {
  readonly #out: Pick<Sink, 'push'>
  readonly #layer: string
  readonly #queue: ContentChunk[] = []
  readonly #driven: Promise<void>
  #ended = false
  #dead = false
  #finished = false
  #failure: { error: unknown } | undefined
  /** The generator waits for a chunk. */
  #give: ((result: IteratorResult<ContentChunk, undefined>) => void) | undefined
  /** The sender waits for room. */
  #room: (() => void) | undefined
  #waiting: Promise<void> | undefined

  constructor(layer: string, pipe: Pipe, out: Pick<Sink, 'push'>) {
    this.#layer = layer
    this.#out = out
    this.#driven = this.#drive(pipe).catch((error) => {
      this.#failure = { error }
    })
    void this.#driven.then(() => {
      this.#finished = true
      this.#queue.length = 0
      this.#freed()
    })
  }

  push(chunk: ContentChunk): void | Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.error
    if (this.#finished || this.#dead) return
    const give = this.#give
    if (give !== undefined) {
      this.#give = undefined
      give({ value: chunk, done: false })
      return
    }
    this.#queue.push(chunk)
    this.#waiting ??= new Promise((resolve) => (this.#room = resolve))
    return this.#waiting.then(() => {
      if (this.#failure !== undefined) throw this.#failure.error
    })
  }

  /** Tells the generator that the stream has ended and waits for what it still yields. */
  async end(): Promise<void> {
    this.#close()
    await this.#driven
    if (this.#failure !== undefined) throw this.#failure.error
  }

  /** Drops whatever the generator still yields. */
  kill(): void {
    this.#dead = true
    this.#queue.length = 0
    this.#close()
    this.#freed()
  }

  async #drive(pipe: Pipe): Promise<void> {
    for await (const chunk of pipe(this.#input())) {
      if (this.#dead) return
      const wait = this.#out.push(checkChunk(chunk, this.#layer))
      if (wait !== undefined) await wait
    }
  }

  #input(): AsyncIterable<ContentChunk> {
    const next = (): Promise<IteratorResult<ContentChunk, undefined>> => {
      const chunk = this.#queue.shift()
      if (chunk !== undefined) {
        if (this.#queue.length === 0) this.#freed()
        return Promise.resolve({ value: chunk, done: false })
      }
      if (this.#ended) return Promise.resolve(over)
      return new Promise((resolve) => (this.#give = resolve))
    }
    const iterator: AsyncIterator<ContentChunk, undefined> = { next, return: () => Promise.resolve(over) }
    return { [Symbol.asyncIterator]: () => iterator }
  }

  #close(): void {
    this.#ended = true
    const give = this.#give
    this.#give = undefined
    give?.(over)
  }

  #freed(): void {
    const room = this.#room
    this.#room = undefined
    this.#waiting = undefined
    room?.()
  }
}

const over: IteratorReturnResult<undefined> = { value: undefined, done: true }
