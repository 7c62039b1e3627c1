import { followSignal, type TurnContext } from '@allium/core'

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
   * When the signal aborts, waiting rejects, and work of one's own has come to nothing, however late its `end()` comes.
   */
  async joinOrBegin(key: string, signal: AbortSignal): Promise<{ value: T } | Flight<T>> {
    for (let flight = this.#flights.get(key); flight !== undefined; flight = this.#flights.get(key)) {
      const value = await unlessAborted(flight, signal)
      if (value !== undefined) return { value }
    }
    return this.#begin(key, signal)
  }

  /**
   * What is kept, else as `joinOrBegin`. A run that is replayed finds what it found, and leads where it led: what it did then is
   * recorded, and nobody else does it in its place.
   */
  async find(
    key: string,
    ctx: Pick<TurnContext, 'once' | 'signal'>,
    kept: () => Promise<T | undefined>,
  ): Promise<{ value: T } | Flight<T>> {
    // Who comes first has the place while it looks: in a replay nobody gets ahead of who led.
    let own = this.#flights.has(key) ? undefined : this.#begin(key, ctx.signal)
    const lookUp = async (): Promise<{ value: T } | { leads: true }> => {
      const known = await kept()
      if (known !== undefined) return { value: known }
      if (own !== undefined) return { leads: true }
      const flight = await this.joinOrBegin(key, ctx.signal)
      if ('value' in flight) return { value: flight.value }
      own = flight
      return { leads: true }
    }
    try {
      const found = await ctx.once('look-up', lookUp, { per: 'attempt' })
      if (!('value' in found)) return own ?? this.#begin(key, ctx.signal)
      own?.land(found.value)
      own?.end()
      return found
    } catch (error) {
      own?.end()
      throw error
    }
  }

  #begin(key: string, signal: AbortSignal): Flight<T> {
    let landed: (value: T | undefined) => void = () => {}
    const flight = new Promise<T | undefined>((resolve) => (landed = resolve))
    this.#flights.set(key, flight)
    let release = () => {}
    const end = () => {
      release()
      // Another one may have begun since.
      if (this.#flights.get(key) === flight) this.#flights.delete(key)
      landed(undefined)
    }
    release = followSignal(signal, end)
    return { land: (value) => landed(value), end }
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
