import { binCount, meanOf, type ScoreCounts } from './score-counts.ts'
import { checkVerdict, type RolloutCounts, testsOf, type VerdictOptions } from './verdict.ts'

/** What is known of a rollout. */
export interface Evidence {
  /** The mean score of the users of each arm; undefined without users. */
  readonly canary: number | undefined
  readonly baseline: number | undefined
  /** The e-value against "the canary is not worse". The verdict is `stop` from 1 / alpha on. */
  readonly isWorse: number
  /** The e-value against "the canary is worse by more than maxDrop". The verdict is `good` from 1 / alpha on. */
  readonly isNotWorse: number
}

/**
 * Returns the e-values of a rollout, for a person who looks. 1 is no evidence.
 *
 * @throws AlliumError `layer.config` for counts or options that are invalid
 */
export function rolloutEvidence(counts: RolloutCounts, options: VerdictOptions = {}): Evidence {
  const { maxDrop } = checkVerdict(counts, options)
  const { isWorse, isNotWorse } = testsOf(maxDrop)
  return {
    canary: meanIn(counts.canary),
    baseline: meanIn(counts.baseline),
    isWorse: Math.exp(isWorse.wealth(counts)),
    isNotWorse: Math.exp(isNotWorse.wealth(counts)),
  }
}

function meanIn(counts: ScoreCounts): number | undefined {
  return counts.slice(0, binCount).some((count) => count > 0) ? meanOf(counts) : undefined
}
