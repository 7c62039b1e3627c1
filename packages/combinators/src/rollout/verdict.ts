import { AlliumError } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import { describe } from '../describe.ts'
import { checkCounts, meanOf, type ScoreCounts } from './score-counts.ts'
import { againstAtLeast, againstAtMost, steps } from './wealth.ts'

/** The scores of users, each counted once, by whether the canary served them. */
export interface RolloutCounts {
  readonly canary: ScoreCounts
  readonly baseline: ScoreCounts
}

export interface VerdictOptions {
  /** How much worse the canary may be, as a difference of mean scores. From 0 to below 1. @default 0 */
  maxDrop?: number
  /** How often a canary that is not worse may be stopped, however often one looks. @default 0.05 */
  alpha?: number
}

/**
 * - `stop`: the canary is worse than the baseline by more than `maxDrop`
 * - `good`: it is not worse by more than `maxDrop`
 * - `continue`: neither is known yet
 */
export type RolloutVerdict = 'stop' | 'good' | 'continue'

const optionKeys: KeysOf<VerdictOptions> = { maxDrop: true, alpha: true }

/**
 * Says whether a canary is worse than the baseline, from how many users had which score.
 *
 * Look as often as you like, after each user if need be: over a whole rollout, a canary that is as good as the baseline is stopped with a
 * probability of at most `alpha`. This holds for any scores from 0 to 1, without an assumption about their distribution. Count each
 * user once, with the mean of a few turns, because the turns of one user are alike: a test on turns stops a good canary in 12 to 57 of
 * 100 rollouts.
 *
 * Two processes that bet against "the canary is not worse", one per arm, multiplied, for the mean of the baseline with which they
 * win least. After Turner, Ly and Grünwald, "Generic E-variables for exact sequential k-sample tests that allow for optional stopping"
 * (2024), and Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting" (2024).
 *
 * @throws AlliumError `layer.config` for counts or options that are invalid
 * @example
 * const canary = noCounts()
 * const baseline = noCounts()
 * for (const { isCanary, score } of users) addScore(isCanary ? canary : baseline, score)
 * if (rolloutVerdict({ canary, baseline }, { maxDrop: 0.02 }) === 'stop') await turnOff()
 */
export function rolloutVerdict(counts: RolloutCounts, options: VerdictOptions = {}): RolloutVerdict {
  const { maxDrop, alpha } = checkVerdict(counts, options)
  const { isWorse, isNotWorse } = testsOf(maxDrop)
  const needed = Math.log(1 / alpha)
  if (isWorse.reaches(counts, needed)) return 'stop'
  return isNotWorse.reaches(counts, needed) ? 'good' : 'continue'
}

/** Returns the options with their defaults. @throws AlliumError `layer.config` */
export function checkVerdict(counts: RolloutCounts, options: VerdictOptions): Required<VerdictOptions> {
  checkOptions(options, optionKeys, 'rolloutVerdict()', 'layer.config')
  const { maxDrop = 0, alpha = 0.05 } = options
  check(maxDrop, alpha)
  checkCounts('canary', counts.canary)
  checkCounts('baseline', counts.baseline)
  return { maxDrop, alpha }
}

/** A process that bets against a claim. */
interface Test {
  /** Whether its wealth, as a logarithm, is at least so large. */
  reaches(counts: RolloutCounts, needed: number): boolean
  /** Returns the logarithm of its wealth: the least over the means of the baseline. */
  wealth(counts: RolloutCounts): number
}
const tests = new Map<number, { isWorse: Test; isNotWorse: Test }>()

/** Kept for the last values of `maxDrop`, because each has tables. */
export function testsOf(maxDrop: number): { isWorse: Test; isNotWorse: Test } {
  const known = tests.get(maxDrop)
  if (known !== undefined) return known
  if (tests.size === 8) tests.delete(tests.keys().next().value as number)
  const found = { isWorse: worse(maxDrop), isNotWorse: notWorse(maxDrop) }
  tests.set(maxDrop, found)
  return found
}

/** Rejects "canary >= baseline - maxDrop". */
function worse(maxDrop: number): Test {
  const baselineAbove = againstAtMost(0)
  const canaryBelow = againstAtLeast(-maxDrop)
  return testOf(
    ({ canary, baseline }) =>
      (from, to) =>
        baselineAbove(baseline, to) + canaryBelow(canary, from),
  )
}

/** Rejects "canary <= baseline - maxDrop". */
function notWorse(maxDrop: number): Test {
  const baselineBelow = againstAtLeast(0)
  const canaryAbove = againstAtMost(-maxDrop)
  return testOf(
    ({ canary, baseline }) =>
      (from, to) =>
        baselineBelow(baseline, from) + canaryAbove(canary, to),
  )
}

/** The least product within an interval of means of the baseline, as a logarithm. */
type Least = (from: number, to: number) => number

function testOf(leastOf: (counts: RolloutCounts) => Least): Test {
  return {
    reaches: (counts, needed) => holdsEverywhere(counts.baseline, needed, leastOf(counts)),
    wealth(counts) {
      const least = leastOf(counts)
      let lowest = Number.POSITIVE_INFINITY
      for (let step = 0; step <= steps; step++) lowest = Math.min(lowest, least(step, step))
      return lowest
    },
  }
}

/** Whether the product is large enough for every mean of the baseline. The observed one comes first: there, it is seldom large. */
function holdsEverywhere(baseline: ScoreCounts, needed: number, least: Least): boolean {
  const observed = Math.round(meanOf(baseline) * steps)
  return least(observed, observed) >= needed && holdsBetween(0, steps, needed, least)
}

/**
 * Whether the product is large enough within an interval. One factor falls with the mean and the other rises, so the two
 * ends of an interval bound the product within it from below. Where that is not enough, the interval is divided.
 */
function holdsBetween(from: number, to: number, needed: number, least: Least): boolean {
  if (least(from, to) >= needed) return true
  if (to - from === 1) return false
  const middle = (from + to) >> 1
  if (least(middle, middle) < needed) return false
  return holdsBetween(from, middle, needed, least) && holdsBetween(middle, to, needed, least)
}

function check(maxDrop: number, alpha: number): void {
  if (!(maxDrop >= 0 && maxDrop < 1))
    throw new AlliumError(
      'layer.config',
      `The maxDrop of rolloutVerdict() must be a number from 0 to below 1, but ${describe(maxDrop)} was given. 0.02 allows for two points.`,
    )
  if (!(alpha > 0 && alpha < 1))
    throw new AlliumError(
      'layer.config',
      `The alpha of rolloutVerdict() must be a number between 0 and 1, but ${describe(alpha)} was given. Leave it out for 0.05.`,
    )
}
