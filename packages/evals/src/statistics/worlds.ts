import { seededRandom } from './random.ts'

/** The mean scores of one case, with and without the change. */
export interface CaseMeans {
  readonly baseline: number
  readonly candidate: number
}

type Random = () => number
/** Draws a case at random from a world in which the mean score falls by exactly `drop`. */
type World = (drop: number, trials: number, random: Random) => CaseMeans

/**
 * How the scores of an agent may behave, to simulate what a gate can show:
 *
 * - `mixed`: hard and easy cases, trials that pass or fail
 * - `easy`: all cases pass in 95 % of their trials
 * - `frozen`: the trials of a case are equal, as with temperature 0
 * - `rare`: most cases never change, and a share of them falls from 1 to 0
 * - `graded`: a judge's grades, most of them high
 *
 * In `mixed`, `easy` and `graded`, the trials of a case are correlated: three in ten cases repeat their first trial.
 */
const worlds = {
  mixed: (drop, trials, random) => passOrFail(random() < 0.5 ? 0.9 : 0.5, drop / 0.7, trials, random),
  easy: (drop, trials, random) => passOrFail(0.95, drop / 0.95, trials, random),
  frozen: (drop, _trials, random) => passOrFail(random() < 0.5 ? 0.9 : 0.5, drop / 0.7, 1, random),
  rare: (drop, _trials, random) => ({ baseline: 1, candidate: random() < drop ? 0 : 1 }),
  graded: (drop, trials, random) => {
    const falls = drop / gradedMean
    return {
      baseline: meanOf(trials, random, () => grade(random())),
      candidate: meanOf(trials, random, () => (random() < falls ? 0 : grade(random()))),
    }
  },
} satisfies Record<string, World>

export type WorldName = keyof typeof worlds
export const worldNames = ['mixed', 'easy', 'frozen', 'rare', 'graded'] as const satisfies readonly WorldName[]

/** A grade of 1 in six of ten answers, 0.75 in two, 0.5 in one, and 0 in one. */
function grade(random: number): number {
  if (random < 0.6) return 1
  if (random < 0.8) return 0.75
  return random < 0.9 ? 0.5 : 0
}
const gradedMean = 0.8

/** @param falls the share by which the rate of passing trials falls */
function passOrFail(rate: number, falls: number, trials: number, random: Random): CaseMeans {
  return {
    baseline: meanOf(trials, random, () => (random() < rate ? 1 : 0)),
    candidate: meanOf(trials, random, () => (random() < rate * (1 - falls) ? 1 : 0)),
  }
}

/** Returns the mean of correlated trials. */
function meanOf(trials: number, random: Random, trial: () => number): number {
  const first = trial()
  if (random() < 0.3) return first
  let sum = first
  for (let i = 1; i < trials; i++) sum += trial()
  return sum / trials
}

/** Draws the cases of one comparison. */
export function drawCases(
  world: WorldName,
  { cases, drop, trials }: { cases: number; drop: number; trials: number },
  random: Random,
): CaseMeans[] {
  return Array.from({ length: cases }, () => worlds[world](drop, trials, random))
}

/** @param seed gives the same cases for the same number */
export function worldRandom(seed: number): Random {
  return seededRandom(seed + 7)
}
