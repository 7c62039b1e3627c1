import type { RolloutArm } from '../rollout-store.ts'

/** Eleven scores, users without a score, turns, and turns without a score. */
export const armSize = 14

/** The numbers to add, by their index. */
export type Increments = readonly (readonly [index: number, by: number])[]

/** A turn of a window: its score, or null if it has none. */
export interface WindowTurn {
  readonly isCanary: boolean
  readonly score: number | null
}

/** Counts of both arms: those of the canary, then those of the baseline. */
export function noRolloutCounts(): number[] {
  return new Array<number>(armSize * 2).fill(0)
}

export function armsOf(counts: readonly number[]): { canary: RolloutArm; baseline: RolloutArm } {
  return { canary: armFrom(counts.slice(0, armSize)), baseline: armFrom(counts.slice(armSize)) }
}

function armFrom(counts: readonly number[]): RolloutArm {
  const [usersWithoutScore = 0, turns = 0, turnsWithoutScore = 0] = counts.slice(11)
  return { scores: counts.slice(0, 11), usersWithoutScore, turns, turnsWithoutScore }
}

/**
 * Returns what a window adds to the counts when it closes, in the arm of its first turn.
 *
 * @param random a number from 0 to below 1, which rounds a mean between two tenths
 */
export function windowCounts(turns: readonly WindowTurn[], random: number): Increments {
  const scores = turns.map(({ score }) => score).filter((score) => score !== null)
  const arm = turns[0]?.isCanary === true ? 0 : armSize
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length
  const bin = scores.length === 0 ? 11 : Math.min(Math.floor(mean * 10 + random), 10)
  return [
    [arm + bin, 1],
    [arm + 12, turns.length],
    [arm + 13, turns.length - scores.length],
  ]
}
