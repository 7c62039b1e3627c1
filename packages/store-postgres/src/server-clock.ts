import { performance } from 'node:perf_hooks'

/** Looks at the server's clock, of which the best counts. */
const samples = 3
/** Milliseconds after which it is looked at again. */
const maxAge = 60_000

/**
 * When something began by the clock of the server: never later than it did, so that a write of an older run is fenced however long it takes
 * to arrive. It is early by the time that the fastest look took, at most.
 */
export class ServerClock {
  readonly #readServerTime: () => Promise<number>
  /** Added to this process' monotonic time. */
  #offset = Number.NEGATIVE_INFINITY
  #measuredAt = Number.NEGATIVE_INFINITY
  #measuring: Promise<void> | undefined

  /** @param readServerTime gives the server's time, in milliseconds since the epoch */
  constructor(readServerTime: () => Promise<number>) {
    this.#readServerTime = readServerTime
  }

  /** @param since by the wall clock of this process */
  async toServerTime(since: number): Promise<number> {
    const startedAt = performance.now() - (Date.now() - since)
    if (performance.now() - this.#measuredAt > maxAge) {
      this.#measuring ??= this.#measure().finally(() => {
        this.#measuring = undefined
      })
      await this.#measuring
    }
    return startedAt + this.#offset
  }

  async #measure(): Promise<void> {
    let best = Number.NEGATIVE_INFINITY
    // The server has told its time before the reply is here.
    for (let i = 0; i < samples; i++) best = Math.max(best, (await this.#readServerTime()) - performance.now())
    this.#offset = best
    this.#measuredAt = performance.now()
  }
}
