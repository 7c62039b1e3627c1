import { performance } from 'node:perf_hooks'

/** Looks at the server's clock, of which the best counts. */
const looks = 3
/** Milliseconds after which it is looked at again. */
const goodFor = 60_000

/**
 * When something began by the clock of the server: never later than it did, so that a write of an older run is fenced however long it takes
 * to arrive. It is early by the time that the fastest look took, at most.
 */
export class ServerClock {
  readonly #look: () => Promise<number>
  /** Added to this process' monotonic time. */
  #offset = Number.NEGATIVE_INFINITY
  #lookedAt = Number.NEGATIVE_INFINITY
  #looking: Promise<void> | undefined

  /** @param look gives the server's time, in milliseconds since the epoch */
  constructor(look: () => Promise<number>) {
    this.#look = look
  }

  /** @param since by the wall clock of this process */
  async timeOf(since: number): Promise<number> {
    const began = performance.now() - (Date.now() - since)
    if (performance.now() - this.#lookedAt > goodFor) {
      this.#looking ??= this.#measure().finally(() => {
        this.#looking = undefined
      })
      await this.#looking
    }
    return began + this.#offset
  }

  async #measure(): Promise<void> {
    let best = Number.NEGATIVE_INFINITY
    // The server has told its time before the reply is here.
    for (let i = 0; i < looks; i++) best = Math.max(best, (await this.#look()) - performance.now())
    this.#offset = best
    this.#lookedAt = performance.now()
  }
}
