import type { Middleware } from '@allium/core'
import type { RolloutState, RolloutStore, RunKey } from '@allium/store'
import { type AnyContext, type Combinable, type Combined, combine } from '../combine.ts'
import { type RolloutOptions, readOptions } from './rollout-options.ts'
import { RolloutRuns } from './rollout-runs.ts'

type Listed<M> = M extends readonly unknown[] ? M : readonly [M]

/** A layer that is rolled out: the layer that counts its users, and the layer itself. Pass it to `.use()`. */
export type Rollout<M extends Combinable> = readonly [Middleware, ...Listed<Combined<M>>] & RolloutHandle

/** What a program does with a rollout besides using it. */
export interface RolloutHandle {
  /**
   * Scores a turn, in place of an earlier score, such as feedback that arrives later. Undefined withdraws it. A turn that was suspended
   * is scored under the id of any of its runs, if the agent's store has them.
   *
   * @param score from 0 to 1
   * @returns false if the turn does not count, or its window has closed
   * @throws AlliumError `layer.config` if the agent has not started and the rollout has no `store`; `store.key` for an invalid score
   */
  score(run: RunKey, score: number | undefined): Promise<boolean>
  /** Returns the counts and what was decided; undefined if no turn has begun. Closes windows that are due. */
  look(): Promise<RolloutState | undefined>
  /** Stops it as an operator would. Returns false if it is stopped, or has not begun. */
  stop(): Promise<boolean>
  /** Resolves when all turns that have ended in this process are scored. */
  settled(): Promise<void>
}

/**
 * Runs a layer for a share of users, and stops by itself when their turns are worse than those of the others.
 *
 * Use it to introduce a layer whose harm shows in answers: a prompt, a model, a guard. Each user counts once in the store, with the mean
 * score of a few turns. Any number of processes may count and look: a layer that is not worse is stopped with a probability of at most
 * `alpha`. After a stop, new turns run without the layer; turns that run keep their choice. A failed turn scores 0. Where the store
 * cannot be read, turns run without the layer.
 *
 * Emits `rollout:decided` to observers, once for each verdict.
 *
 * @example
 * const tone = rollout(newTone, { percent: 10, score: ({ text }) => (text.includes('Sorry') ? 0 : 1) })
 * const agent = new Agent({ model, store }).use(tone)
 *
 * @throws AlliumError `layer.config` for invalid options
 */
export function rollout<M extends Combinable>(layer: M, options: RolloutOptions): Rollout<M> {
  const settings = readOptions(layer, options)
  const runs = new RolloutRuns(settings)
  const gated = combine('rollout', layer, ({ scope, run }) => (ctx: AnyContext, next) => {
    if (scope === 'agent') return settings.percent > 0 ? run(ctx, next) : next()
    const isCanary = scope === 'session' ? runs.mayServe(ctx) : runs.isCanary(ctx)
    return isCanary ? run(ctx, next) : next()
  })
  const listed = Array.isArray(gated) ? gated : [gated]
  const handle: RolloutHandle = {
    score: (run, score) => runs.score(run, score),
    look: async () => storeOf().look(settings.name),
    stop: async () => {
      const round = (await storeOf().look(settings.name))?.round
      return round !== undefined && storeOf().decide(settings.name, { round, verdict: 'stop', by: 'operator' })
    },
    settled: () => runs.settled(),
  }
  return Object.assign([runs.layer, ...listed], handle) as unknown as Rollout<M> // the same layers, in a list

  function storeOf(): RolloutStore {
    return runs.store()
  }
}
