import { mean, numberIn } from '../gates/losses-of.ts'
import type { Calibration } from './calibration.ts'
import type { CaseReport, ScorerSummary } from './report.ts'

/** Returns the means of a scorer over the cases. */
export function summaryOf(
  scorer: string,
  cases: readonly CaseReport[],
  calibration: Calibration | undefined,
): ScorerSummary {
  const trials = cases.flatMap((one) => one.trials)
  const invalid = trials.filter(({ scores }) => 'invalid' in (scores[scorer] ?? { invalid: '' })).length
  const meanOf = (field: 'score' | 'value') => {
    const byCase = cases.map((one) => mean(one.trials.flatMap(({ scores }) => numberIn(scores[scorer], field))))
    return mean(byCase.filter((one) => !Number.isNaN(one)))
  }
  const [score, value] = [meanOf('score'), meanOf('value')]
  return {
    ...(!Number.isNaN(score) && { score }),
    ...(!Number.isNaN(value) && { value }),
    invalid,
    trials: trials.length,
    ...(calibration !== undefined && { calibration }),
  }
}
