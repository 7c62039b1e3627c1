import { followSignal, type TurnContext } from '@allium/core'

/** Work of one's own, for which others wait. */
export interface FlightLeader<T> {
  resolve(value: T): void
  release(): void
}

/** Work that is under way, by key: who asks for the same waits for it. */
export class SingleFlight<T> {
  readonly #flights = new Map<string, Promise<T | undefined>>()

  /**
   * Waits for the work under way, and gives what it came to. Where there is none, or it came to nothing, the caller's own
   * begins: then `end()` must come in any case, and `land()` before it where it came to something.
   * When the signal aborts, waiting rejects, and work of one's own has come to nothing, however late its `end()` comes.
   */
  async joinOrLead(key: string, signal: AbortSignal): Promise<{ value: T } | FlightLeader<T>> {
    for (let inFlight = this.#flights.get(key); inFlight !== undefined; inFlight = this.#flights.get(key)) {
      const value = await rejectOnAbort(inFlight, signal)
      if (value !== undefined) return { value }
    }
    return this.#lead(key, signal)
  }

  /**
   * What is kept, else as `joinOrBegin`. A run that is replayed finds what it found, and leads where it led: what it did then is
   * recorded, and nobody else does it in its place.
   */
  async find(
    key: string,
    ctx: Pick<TurnContext, 'once' | 'signal'>,
    readCache: () => Promise<T | undefined>,
  ): Promise<{ value: T } | FlightLeader<T>> {
    // Who comes first has the place while it looks: in a replay nobody gets ahead of who led.
    let leader = this.#flights.has(key) ? undefined : this.#lead(key, ctx.signal)
    const lookUp = async (): Promise<{ value: T } | { leads: true }> => {
      const cached = await readCache()
      if (cached !== undefined) return { value: cached }
      if (leader !== undefined) return { leads: true }
      const inFlight = await this.joinOrLead(key, ctx.signal)
      if ('value' in inFlight) return { value: inFlight.value }
      leader = inFlight
      return { leads: true }
    }
    try {
      const recorded = await ctx.once('look-up', lookUp, { per: 'attempt' })
      if (!('value' in recorded)) return leader ?? this.#lead(key, ctx.signal)
      leader?.resolve(recorded.value)
      leader?.release()
      return recorded
    } catch (error) {
      leader?.release()
      throw error
    }
  }

  #lead(key: string, signal: AbortSignal): FlightLeader<T> {
    let resolveFlight: (value: T | undefined) => void = () => {}
    const inFlight = new Promise<T | undefined>((resolve) => (resolveFlight = resolve))
    this.#flights.set(key, inFlight)
    let unfollow = () => {}
    const release = () => {
      unfollow()
      // Another one may have begun since.
      if (this.#flights.get(key) === inFlight) this.#flights.delete(key)
      resolveFlight(undefined)
    }
    unfollow = followSignal(signal, release)
    return { resolve: (value) => resolveFlight(value), release }
  }
}

function rejectOnAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const unfollow = followSignal(signal, reject)
    void promise.then((value) => {
      unfollow()
      resolve(value)
    })
  })
}
