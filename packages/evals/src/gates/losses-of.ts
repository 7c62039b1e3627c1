import type { CaseReport, ScoreReport } from '../report/report.ts'
import type { Losses } from '../statistics/losses.ts'
import type { GateKind } from './gate.ts'

/** What a gate compares. */
export interface Compared extends Losses {
  /** The mean loss over valid trials. NaN if there are none. */
  readonly estimate: number
  /** The larger share of invalid trials of the two sides. */
  readonly invalid: number
  readonly uncompared: readonly string[]
}

/** A mean, from `low`, if invalid trials had the smallest value, to `high`. */
interface Range {
  readonly low: number
  readonly high: number
  /** The mean of valid trials. NaN if there are none. */
  readonly valid: number
  readonly invalid: number
  readonly trials: number
}

/** Returns the losses of a gate's units: of groups, and of each case without one. A loss is a drop, a missing score, or half a ratio. */
export function lossesOf(
  { kind, value }: GateKind,
  scorer: string,
  cases: readonly CaseReport[],
  baseline: readonly CaseReport[],
): Compared {
  const field = kind === 'maxRatio' ? 'value' : 'score'
  const before = new Map(baseline.map((one) => [one.id, one]))
  const uncompared: string[] = []
  const units = new Map<string, Loss[]>()
  const counts = { candidate: { invalid: 0, trials: 0 }, baseline: { invalid: 0, trials: 0 } }
  for (const one of cases) {
    const other = before.get(one.id)
    if (kind !== 'min' && other?.digest !== one.digest) {
      uncompared.push(one.id)
      continue
    }
    const candidate = rangeOf(one, scorer, field)
    const reference = other === undefined || kind === 'min' ? noRange : rangeOf(other, scorer, field)
    count(counts.candidate, candidate)
    count(counts.baseline, reference)
    const unit = one.group === undefined ? `case ${one.id}` : `group ${one.group}`
    units.set(unit, [...(units.get(unit) ?? []), lossBy[kind](candidate, reference)])
  }
  const losses = [...units.values()].map(meanLoss)
  const isExact = counts.candidate.invalid + counts.baseline.invalid === 0
  const best = losses.map((loss) => loss.best)
  return {
    best,
    worst: isExact ? best : losses.map((loss) => loss.worst),
    estimate: mean(losses.map((loss) => loss.valid).filter((loss) => !Number.isNaN(loss))),
    low: kind === 'maxDrop' ? -1 : 0,
    high: 1,
    limit: { min: 1 - value, maxDrop: value, maxRatio: value / 2 }[kind],
    invalid: Math.max(shareOf(counts.candidate), shareOf(counts.baseline)),
    uncompared,
  }
}

interface Loss {
  readonly best: number
  readonly worst: number
  readonly valid: number
}

const lossBy = {
  min: (candidate: Range): Loss => ({
    best: 1 - candidate.high,
    worst: 1 - candidate.low,
    valid: 1 - candidate.valid,
  }),
  maxDrop: (candidate: Range, before: Range): Loss => ({
    best: before.low - candidate.high,
    worst: before.high - candidate.low,
    valid: before.valid - candidate.valid,
  }),
  maxRatio: (candidate: Range, before: Range): Loss => ({
    best: halfRatio(candidate.low, before.high),
    worst: halfRatio(candidate.high, before.low),
    valid: halfRatio(candidate.valid, before.valid),
  }),
}

/** A ratio is capped at 2 and halved, because only a bounded value has a bound of its mean. */
function halfRatio(value: number, before: number): number {
  if (value === before) return 0.5
  return Math.min(2, value / before) / 2
}

const noRange: Range = { low: 0, high: 0, valid: 0, invalid: 0, trials: 0 }

function rangeOf({ trials }: CaseReport, scorer: string, field: 'score' | 'value'): Range {
  const known = trials.flatMap(({ scores }) => numberIn(scores[scorer], field))
  const invalid = trials.length - known.length
  const sum = known.reduce((total, value) => total + value, 0)
  const largest = field === 'score' ? 1 : Number.POSITIVE_INFINITY
  return {
    low: sum / trials.length,
    high: (sum + (invalid === 0 ? 0 : invalid * largest)) / trials.length,
    valid: sum / known.length,
    invalid,
    trials: trials.length,
  }
}

/** Returns the score or measured value of a trial; nothing if it is invalid. */
export function numberIn(result: ScoreReport | undefined, field: 'score' | 'value'): number[] {
  if (result === undefined || 'invalid' in result) return []
  const value = result[field]
  return value === undefined ? [] : [value]
}

function count(total: { invalid: number; trials: number }, { invalid, trials }: Range): void {
  total.invalid += invalid
  total.trials += trials
}

function shareOf({ invalid, trials }: { invalid: number; trials: number }): number {
  return trials === 0 ? 0 : invalid / trials
}

function meanLoss(losses: readonly Loss[]): Loss {
  return {
    best: mean(losses.map(({ best }) => best)),
    worst: mean(losses.map(({ worst }) => worst)),
    valid: mean(losses.map(({ valid }) => valid).filter((loss) => !Number.isNaN(loss))),
  }
}

/** NaN for an empty list. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
