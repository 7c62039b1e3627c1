/** How much worse than wished the units of a gate are, from `low` to `high`. A smaller loss is better. */
export interface Losses {
  /** The loss of each unit if every invalid trial had the best result. */
  readonly best: readonly number[]
  /** The loss of each unit if every invalid trial had the worst result. */
  readonly worst: readonly number[]
  /** The smallest possible loss. */
  readonly low: number
  /** The largest possible loss. */
  readonly high: number
  /** The largest mean loss that may pass. */
  readonly limit: number
}
