import { silence } from '../errors/thenable.ts'
import type { ContentChunk } from '../model/chunk.ts'
import type { Sink } from './transforms.ts'
import { checkChunk, type Pipe, type StreamEnd } from './transforms.ts'

/** Pushes chunks through an async generator and sends its output to `out`. At most one chunk waits in the queue. */
export class PipeLink implements Pick<Sink, 'push'> {
  readonly #out: Pick<Sink, 'push'>
  readonly #layer: string
  readonly #queue: ContentChunk[] = []
  /** Settles when the generator has ended. If the generator hangs, its callers are abandoned with the attempt. */
  readonly #over: Promise<void>
  #ended: StreamEnd | undefined
  #dead = false
  #finished = false
  #failure: { error: unknown } | undefined
  /** Set while the generator is waiting for a chunk. */
  #give: ((result: IteratorResult<ContentChunk, undefined>) => void) | undefined
  /** Set while the generator is waiting for the end of the stream. Senders then do not wait for room. */
  #endRequest: { promise: Promise<StreamEnd>; settle: (end: StreamEnd) => void } | undefined
  /** Set while the sender is waiting for room. */
  #room: (() => void) | undefined
  #waiting: Promise<void> | undefined

  constructor(layer: string, pipe: Pipe, out: Pick<Sink, 'push'>) {
    this.#layer = layer
    this.#out = out
    const over = () => {
      this.#finished = true
      this.#queue.length = 0
      this.#freed()
    }
    this.#over = this.#drive(pipe).then(over, (error) => {
      this.#failure = { error }
      over()
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
    if (this.#endRequest !== undefined) return
    this.#waiting ??= new Promise((resolve) => (this.#room = resolve))
    return this.#waiting.then(() => {
      if (this.#failure !== undefined) throw this.#failure.error
    })
  }

  /** Tells the generator how the stream ended and waits for its remaining output. */
  async end(end: StreamEnd): Promise<void> {
    this.#close(end)
    await this.#over
    if (this.#failure !== undefined) throw this.#failure.error
  }

  /** Drops all further output of the generator. */
  kill(reason: unknown): void {
    this.#dead = true
    this.#queue.length = 0
    this.#close({ error: reason })
    this.#freed()
  }

  async #drive(pipe: Pipe): Promise<void> {
    for await (const chunk of pipe(this.#input(), () => this.#end())) {
      if (this.#dead) return
      const blocked = this.#out.push(checkChunk(chunk, this.#layer))
      if (blocked !== undefined) await blocked
    }
  }

  #input(): AsyncIterable<ContentChunk> {
    const next = (): Promise<IteratorResult<ContentChunk, undefined>> => {
      const chunk = this.#queue.shift()
      if (chunk !== undefined) {
        if (this.#queue.length === 0) this.#freed()
        return Promise.resolve({ value: chunk, done: false })
      }
      if (this.#ended !== undefined) return Promise.resolve(over)
      return new Promise((resolve) => (this.#give = resolve))
    }
    const iterator: AsyncIterator<ContentChunk, undefined> = { next, return: () => Promise.resolve(over) }
    return { [Symbol.asyncIterator]: () => iterator }
  }

  #end(): Promise<StreamEnd> {
    if (this.#ended !== undefined) return Promise.resolve(this.#ended)
    if (this.#endRequest === undefined) {
      let settle = (_: StreamEnd) => {}
      const promise = new Promise<StreamEnd>((resolve) => (settle = resolve))
      this.#endRequest = { promise, settle }
      this.#freed()
    }
    return this.#endRequest.promise
  }

  #close(end: StreamEnd): void {
    if (this.#ended !== undefined) return
    this.#ended = end
    const give = this.#give
    this.#give = undefined
    give?.(over)
    this.#endRequest?.settle(end)
    silence(this.#endRequest?.promise)
  }

  #freed(): void {
    const room = this.#room
    this.#room = undefined
    this.#waiting = undefined
    room?.()
  }
}

const over: IteratorReturnResult<undefined> = { value: undefined, done: true }
