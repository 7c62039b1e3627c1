import type { SessionKey } from '@allium/core'

/**
 * How a turn is replayed. `pinned`: the n-th attempt of a model call gets its recorded answer, whatever the request is. `exact`: in the
 * same way, but each difference in a request counts.
 */
export type ReplayMode = 'pinned' | 'exact'

/** A difference between a recorded turn and its replay. Values are texts of at most 2,000 characters. */
export interface ReplayDifference {
  /**
   * `outcome`: the status, the text, the output, a tool call or the usage. `decision`: what a layer decided, or its reason. `request`: a
   * field of a model call. `diverged`: the replay needs an answer that the recording does not have, or left out a recorded step.
   */
  readonly kind: 'outcome' | 'decision' | 'request' | 'diverged'
  /** The step that differs, as in the lanes. */
  readonly step: string
  /** The field that differs, such as `status`, `args` or `messages[3]`. */
  readonly field: string
  /** The layer that decided, in the recording or in the replay. */
  readonly layer?: string | undefined
  /** Undefined if the recording has nothing there. */
  readonly recorded: string | undefined
  /** Undefined if the replay has nothing there. */
  readonly replayed: string | undefined
}

/** A step of a turn in two lanes. */
export interface ReplayLane {
  /** Such as `model 0`, `tool c1`, `once guard:policy` or `end`. Steps of sub-agents begin with the ids of the calls: `c1/model 0`. */
  readonly step: string
  readonly recorded: string | undefined
  readonly replayed: string | undefined
  readonly differs: boolean
}

/** A recorded turn and its replay. */
export interface ReplayedTurn {
  readonly key: SessionKey
  readonly turnId: string
  /** When the recorded turn began, in milliseconds since the epoch. */
  readonly startedAt: number
  /** Whether a difference counts. `notReplayable` turns are never guessed. */
  readonly verdict: 'same' | 'different' | 'notReplayable'
  /** Why it is not replayable. */
  readonly reason?: string | undefined
  /** Differences that count: in `pinned` those of requests do not. */
  readonly differences: readonly ReplayDifference[]
  /** Differences of requests. In `exact` they are in `differences`, too. */
  readonly requests: readonly ReplayDifference[]
  readonly lanes: readonly ReplayLane[]
  /** The index of the first lane that differs: "diverged here". */
  readonly divergedAt?: number | undefined
  /** Why parts of the turn were not entered, such as sub-agents of own tools. */
  readonly notes: readonly string[]
}

/** The result of a replay of many turns. */
export interface ReplayReport {
  readonly mode: ReplayMode
  /** The number of turns that were replayed. */
  readonly replayed: number
  readonly same: number
  readonly different: number
  /** Turns that were not replayed, by reason. */
  readonly notReplayable: Readonly<Record<string, number>>
  /** The number of turns with a difference, by layer. Differences without a layer count as `(no layer)`. */
  readonly byLayer: Readonly<Record<string, number>>
  /** Parts that were not entered, by reason. */
  readonly notes: Readonly<Record<string, number>>
  /** The turns that differ, and those that are not replayable, up to `maxChanges`. */
  readonly turns: readonly ReplayedTurn[]
}
