import { followSignal, type TurnView } from '@allium/core'

/** The caller that does the work while others wait for it. */
export interface FlightLeader<T> {
  resolve(value: T): void
  release(): void
}

/** Work in progress, by key. Further callers with the same key wait for it. */
export class SingleFlight<T> {
  readonly #flights = new Map<string, Promise<T | undefined>>()

  /**
   * Waits for the work in progress and returns its value. Without one, or if it had no value, the caller becomes the leader: it must
   * call `release()` in any case, and `resolve()` before it if there is a value.
   * If the signal aborts, waiting rejects, and the leader's work counts as without a value, however late it calls `release()`.
   */
  async joinOrLead(key: string, signal: AbortSignal): Promise<{ value: T } | FlightLeader<T>> {
    for (let inFlight = this.#flights.get(key); inFlight !== undefined; inFlight = this.#flights.get(key)) {
      const value = await rejectOnAbort(inFlight, signal)
      if (value !== undefined) return { value }
    }
    return this.#lead(key, signal)
  }

  /**
   * Returns the cached value, or else acts like `joinOrLead`. A replay finds or leads as the first run did: its result is recorded, so it
   * must not join the work of another caller.
   */
  async find(
    key: string,
    ctx: Pick<TurnView, 'once' | 'signal'>,
    readCache: () => Promise<T | undefined>,
  ): Promise<{ value: T } | FlightLeader<T>> {
    // The first caller leads already during its lookup, so that in a replay no other caller takes the place of a former leader.
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
      // Another flight may have begun since.
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
