import { performance } from 'node:perf_hooks'

/** Readings of the server's clock; the best one counts. */
const samples = 3
/** The clock is read again after this many milliseconds. */
const maxAge = 60_000

/**
 * Converts times to the server's clock. The result is never late, so that a write of an older run is fenced however long it takes to
 * arrive.
 * It is early by at most the round trip of the fastest reading.
 */
export class ServerClock {
  readonly #readServerTime: () => Promise<number>
  /** Added to the monotonic time of this process. */
  #offset = Number.NEGATIVE_INFINITY
  #measuredAt = Number.NEGATIVE_INFINITY
  #measuring: Promise<void> | undefined

  /** @param readServerTime returns the server's time, in milliseconds since the epoch */
  constructor(readServerTime: () => Promise<number>) {
    this.#readServerTime = readServerTime
  }

  /** @param since a time by the wall clock of this process */
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
    // The server reads its clock before its reply arrives.
    for (let i = 0; i < samples; i++) best = Math.max(best, (await this.#readServerTime()) - performance.now())
    this.#offset = best
    this.#measuredAt = performance.now()
  }
}
