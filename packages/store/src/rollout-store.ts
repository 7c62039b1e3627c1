import type { Writer } from '@allium/core'
import type { RunKey } from './event-log.ts'

/** A turn that begins while its layer is rolled out. */
export interface RolloutTurn {
  /** The name of the rollout. */
  readonly rollout: string
  readonly run: RunKey
  /** Whom the turn counts for: turns with the same text share a window. Stores keep a digest of it. */
  readonly user: string
  /** Whether the layer runs in this turn. The first turn of a user says so for its window. */
  readonly isCanary: boolean
  /** The number of turns in a window, from 1 to 100. */
  readonly turns: number
  /** How long a window stays open after its first turn, in milliseconds. */
  readonly windowMs: number
  /** How much worse the canary may be. The first turn of a round sets it. */
  readonly maxDrop: number
  /** How often a canary that is not worse may be stopped. The first turn of a round sets it. */
  readonly alpha: number
}

/** The users of an arm whose windows have closed. */
export interface RolloutArm {
  /** How many users had a mean score of 0, 0.1, 0.2 … 1: eleven counts. A mean between two tenths is one of them at random. */
  readonly scores: readonly number[]
  /** Users whose turns had no score. They are no data. */
  readonly usersWithoutScore: number
  /** The turns of all these users. */
  readonly turns: number
  readonly turnsWithoutScore: number
}

/** Who stopped a rollout: its verdict, or an operator. */
export type RolloutStopper = 'verdict' | 'operator'

export interface RolloutState {
  readonly rollout: string
  /** 1, and one more after each restart. */
  readonly round: number
  /** When the round began, in milliseconds since the epoch. */
  readonly startedAt: number
  /** Both are undefined until the first turn of a round. */
  readonly maxDrop?: number
  readonly alpha?: number
  readonly stopped?: { readonly at: number; readonly by: RolloutStopper }
  /** When the verdict was that the canary is good, in milliseconds since the epoch. */
  readonly goodAt?: number
  readonly canary: RolloutArm
  readonly baseline: RolloutArm
}

/**
 * Counts the users of rollouts by score. A user counts once in a round: when its window closes, in the arm of its first turn, with the
 * mean of the scores of its turns. A window closes when it has all its turns and each is scored, or when its time is over, whichever
 * comes first. Processes that share a store add to the same counts.
 *
 * Users, turns, owners and tenants are stored as digests. What is stored of an owner or a tenant is erased with it, except for counts,
 * which hold nobody. Implementations pass `rolloutStoreConformance` of `@allium/testing/rollouts`.
 *
 * @throws AlliumError `store.unavailable`, `store.corrupt`, `store.full`, `store.readonly`, `store.key`
 */
export interface RolloutStore {
  /**
   * Opens the window of a user, or adds the turn to it. Changes nothing if the user has counted, its window is full, or the rollout is
   * stopped.
   *
   * @param by the owner of the run
   * @throws AlliumError `store.fenced` if the owner or the tenant was erased since the run began
   */
  begin(turn: RolloutTurn, by?: Writer): Promise<void>
  /**
   * Scores a turn of an open window, in place of an earlier score. Undefined says that the turn has no outcome and will have none.
   *
   * @param score from 0 to 1
   * @returns whether the turn was scored; false if its window has closed, or the rollout does not count it
   */
  score(rollout: string, run: RunKey, score: number | undefined): Promise<boolean>
  /**
   * Closes windows whose time is over, at most `limit`, and returns the counts. Undefined if no turn has begun.
   *
   * @param options.limit @default 100
   */
  look(rollout: string, options?: { limit?: number | undefined }): Promise<RolloutState | undefined>
  /**
   * Records the end of a round: one caller gets true, even if many processes decide at once. After `stop` nothing is counted.
   *
   * @param decision.round the round that the caller has looked at; false if it is no longer the current one
   */
  decide(rollout: string, decision: { round: number; verdict: 'stop' | 'good'; by: RolloutStopper }): Promise<boolean>
  /** Begins a new round without counts. Returns false if there is no such rollout. */
  restart(rollout: string): Promise<boolean>
  /** Returns all rollouts by name, at most 1,000. */
  list(): Promise<RolloutState[]>
}

/** A rollout got a verdict: its canary was stopped, or is good. The process that decided reports it, once per round. */
export interface RolloutDecided {
  type: 'rollout:decided'
  rollout: string
  round: number
  verdict: 'stop' | 'good'
  canary: RolloutArm
  baseline: RolloutArm
}

declare module '@allium/core' {
  interface AgentEvents {
    'rollout:decided': RolloutDecided
  }
}
