import type { GateReport } from '../gates/gate.ts'
import { mean, numberIn } from '../gates/losses-of.ts'
import type { CaseReport, EvalReport } from './report.ts'

/** A gate in words for reporters. */
export interface GateWords {
  readonly scorer: string
  /** The condition, such as `drop < 5 points`. */
  readonly gate: string
  readonly verdict: GateReport['verdict']
  /** The estimate with its interval; empty if nothing was compared. */
  readonly result: string
  /** How many cases or groups were compared. */
  readonly units: number
  readonly reason: string
}

export function gateWords({ scorer, gate, verdict, estimate, interval, units, reason }: GateReport): GateWords {
  const [kind, limit, write] =
    'min' in gate
      ? ['mean >', gate.min, plain]
      : 'maxDrop' in gate
        ? ['drop <', gate.maxDrop, points]
        : ['ratio <', gate.maxRatio, plain]
  const range = interval === undefined ? '' : ` (${write(interval[0])} to ${write(interval[1])})`
  const result = estimate === undefined ? '' : `${write(estimate)}${range}`
  return { scorer, gate: `${kind} ${write(limit)}`, verdict, result, units, reason }
}

/** A case with a low score. */
export interface WeakCase {
  readonly id: string
  /** The mean score of its trials. */
  readonly score: number
  /** The first reason of a scorer, on one line. */
  readonly reason: string
  /** What layers decided in its trials, such as `"limit" denied refund`. */
  readonly decisions: readonly string[]
}

/** Returns the cases with the lowest scores below 1, lowest first, in their order among equal ones. */
export function weakCases({ cases }: EvalReport, scorer: string, limit = 5): WeakCase[] {
  return cases
    .map((one) => ({ one, score: mean(one.trials.flatMap(({ scores }) => numberIn(scores[scorer], 'score'))) }))
    .filter(({ score }) => score < 1)
    .sort((a, b) => a.score - b.score)
    .slice(0, limit)
    .map(({ one, score }) => ({
      id: one.id,
      score,
      reason: reasonOf(one, scorer),
      decisions: [...new Set(one.trials.flatMap(decisionsOf))],
    }))
}

function reasonOf({ trials }: CaseReport, scorer: string): string {
  for (const { scores } of trials) {
    const result = scores[scorer]
    if (result !== undefined && 'reason' in result && result.reason !== undefined) return oneLine(result.reason)
  }
  return ''
}

function decisionsOf({ decisions }: CaseReport['trials'][number]): string[] {
  return decisions.map(({ layer, decision, tool }) => oneLine(`"${layer}" ${decision}${tool ? ` ${tool}` : ''}`))
}

/** Texts of models and users must not add lines or control sequences to a report. */
export function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  const line = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim()
  return line.length > 120 ? `${line.slice(0, 119)}…` : line
}

/** Writes a number with at most three decimals. */
export function plain(value: number): string {
  return String(Math.round(value * 1000) / 1000)
}

function points(value: number): string {
  return `${Math.round(value * 1000) / 10} points`
}
