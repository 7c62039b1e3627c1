import { followSignal, fromJson } from '@allium/core'
import type { EventReader, LoggedEvent } from '../event-log.ts'

type Result = IteratorResult<LoggedEvent, undefined>

interface Source {
  readonly signal: AbortSignal | undefined
  ended(): boolean
  /** Callbacks of the readers that wait, for each append. */
  readonly readers: Set<() => void>
}

/** Reads the events of one run. Uses plain calls and one promise per wait, because there is one instance for each reader of each run. */
export class RunReader implements EventReader {
  readonly #texts: readonly string[]
  readonly #source: Source
  #seq: number
  /** Pending `next()` calls, oldest first. */
  #waiting: ((result: Result) => void)[] = []
  #left = false
  #untie = () => {}

  constructor(texts: readonly string[], after: number, source: Source) {
    this.#texts = texts
    this.#source = source
    this.#seq = Math.max(0, Math.floor(after) || 0)
    if (source.signal !== undefined) this.#untie = followSignal(source.signal, () => this.#leave())
  }

  take(): LoggedEvent | undefined {
    const text = this.#left || this.#waiting.length > 0 ? undefined : this.#texts[this.#seq]
    return text === undefined ? undefined : { seq: ++this.#seq, event: fromJson(text) }
  }

  next(): Promise<Result> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#tell()
    })
  }

  /** Also ends a pending `next()`. */
  async return(): Promise<Result> {
    this.#leave()
    return over
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #leave(): void {
    this.#left = true
    this.#untie()
    this.#source.readers.delete(this.#wake)
    this.#tell()
  }

  #tell(): void {
    while (this.#waiting.length > 0) {
      const text = this.#left ? undefined : this.#texts[this.#seq]
      if (text === undefined && !this.#left && !this.#source.ended()) return void this.#source.readers.add(this.#wake)
      const resolve = this.#waiting.shift() as (result: Result) => void
      if (text === undefined) this.#untie()
      resolve(text === undefined ? over : { value: { seq: ++this.#seq, event: fromJson(text) }, done: false })
    }
  }

  readonly #wake = (): void => {
    if (this.#texts[this.#seq] === undefined && !this.#source.ended()) return
    this.#source.readers.delete(this.#wake)
    this.#tell()
  }
}

const over: IteratorReturnResult<undefined> = { value: undefined, done: true }
