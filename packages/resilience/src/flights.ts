import { followSignal } from '@allium/core'

/** Work of one's own, for which others wait. */
export interface Flight<T> {
  land(value: T): void
  end(): void
}

/** Work that is under way, by key: who asks for the same waits for it. */
export class Flights<T> {
  readonly #flights = new Map<string, Promise<T | undefined>>()

  /**
   * Waits for the work under way, and gives what it came to. Where there is none, or it came to nothing, the caller's own
   * begins: then `end()` must come in any case, and `land()` before it where it came to something.
   * Rejects when the signal aborts.
   */
  async joinOrBegin(key: string, signal: AbortSignal): Promise<{ value: T } | Flight<T>> {
    for (let flight = this.#flights.get(key); flight !== undefined; flight = this.#flights.get(key)) {
      const value = await unlessAborted(flight, signal)
      if (value !== undefined) return { value }
    }
    return this.#begin(key)
  }

  #begin(key: string): Flight<T> {
    let landed: (value: T | undefined) => void = () => {}
    this.#flights.set(key, new Promise((resolve) => (landed = resolve)))
    return {
      land: (value) => landed(value),
      end: () => {
        this.#flights.delete(key)
        landed(undefined)
      },
    }
  }
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const release = followSignal(signal, reject)
    void promise.then((value) => {
      release()
      resolve(value)
    })
  })
}
