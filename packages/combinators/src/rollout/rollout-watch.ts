import { type Clock, messageOf } from '@allium/core'
import type { RolloutDecided, RolloutState, RolloutStore } from '@allium/store'
import { rolloutVerdict } from './verdict.ts'

/** Where a watch reports: the agent that asked. */
export interface Surroundings {
  readonly clock: Clock
  readonly logger: { warn(message: string, data?: object): void }
  readonly store: RolloutStore
  emit(event: RolloutDecided): void
}

/** The state of a rollout in this process. It looks at most once per `refresh` milliseconds, and records the verdict that it finds. */
export class RolloutWatch {
  readonly #rollout: string
  readonly #refresh: number
  #state: RolloutState | undefined
  #lookedAt = Number.NEGATIVE_INFINITY
  #looking: Promise<boolean> | undefined

  constructor(rollout: string, refresh: number) {
    this.#rollout = rollout
    this.#refresh = refresh
  }

  /** Returns the state, at most `refresh` milliseconds old; undefined if nothing was counted; `unknown` if the store fails. */
  async state(around: Surroundings): Promise<RolloutState | undefined | 'unknown'> {
    const now = around.clock.monotonic()
    if (now - this.#lookedAt < this.#refresh) return this.#state
    this.#looking ??= this.#look(around).finally(() => {
      this.#looking = undefined
    })
    return (await this.#looking) ? this.#state : 'unknown'
  }

  /** Returns whether the store answered. */
  async #look({ clock, logger, store, emit }: Surroundings): Promise<boolean> {
    try {
      const lookedAt = clock.monotonic()
      const state = await store.look(this.#rollout)
      this.#state = state === undefined ? undefined : await this.#decide(store, state, emit)
      this.#lookedAt = lookedAt
      return true
    } catch (error) {
      logger.warn(
        `The rollout "${this.#rollout}" cannot be read, so turns run without its layer: ${messageOf(error)}`,
        { error },
      )
      return false
    }
  }

  async #decide(store: RolloutStore, state: RolloutState, emit: Surroundings['emit']): Promise<RolloutState> {
    const { rollout, round, stopped, goodAt, canary, baseline, maxDrop, alpha } = state
    if (stopped !== undefined || maxDrop === undefined || alpha === undefined) return state
    const verdict = rolloutVerdict({ canary: canary.scores, baseline: baseline.scores }, { maxDrop, alpha })
    if (verdict === 'continue' || (verdict === 'good' && goodAt !== undefined)) return state
    const isFirst = await store.decide(rollout, { round, verdict, by: 'verdict' })
    if (isFirst) emit({ type: 'rollout:decided', rollout, round, verdict, canary, baseline })
    return (await store.look(rollout)) ?? state
  }
}
