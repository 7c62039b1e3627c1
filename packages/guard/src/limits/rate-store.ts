import type { RateCounter } from '@allium/store'

/** The part of a rate-limiter-flexible limiter that is used. */
export interface RateStore extends Pick<RateCounter, 'consume'>, Partial<Pick<RateCounter, 'reward'>> {
  /** Refunds what `consume` returned, for stores that need more than the key. */
  undo?(receipt: unknown): Promise<unknown>
}

/** Creates the store of a rate. */
export type MakeRateStore = (options: RateStoreOptions) => RateStore

export interface RateStoreOptions {
  keyPrefix: string
  points: number
  /** Seconds. */
  duration: number
}
