import type { GateReport } from '../gates/gate.ts'
import { mean, numberIn } from '../gates/losses-of.ts'
import type { CaseReport, EvalReport, ScoreReport } from './report.ts'
import { oneLine } from './words.ts'

/** A case as reports show it beside the baseline. */
export interface ComparedCase {
  readonly id: string
  /** The mean score, or measured value of a gate with `maxRatio`, over valid trials. Undefined if there are none. */
  readonly now: number | undefined
  /** The same of the baseline. Undefined if it does not have this case. */
  readonly before: number | undefined
  /** Why, by the scorer. */
  readonly reason: string
  readonly decisions: readonly string[]
}

/** Returns the cases that count against a gate, those that count most first: a low score, a drop, or a higher value. */
export function casesAgainst(gate: GateReport, report: EvalReport, baseline?: EvalReport): ComparedCase[] {
  const before = new Map(baseline?.cases.map((one) => [one.id, one]))
  return report.cases
    .map((one) => compared(gate, one, sameCase(one, before.get(one.id))))
    .map((one) => ({ one, loss: lossOf(gate, one) }))
    .filter(({ loss }) => loss > 0)
    .sort((a, b) => b.loss - a.loss)
    .map(({ one }) => one)
}

/** Returns the baseline's case, unless its input was another one. */
export function sameCase(one: CaseReport, before: CaseReport | undefined): CaseReport | undefined {
  return before?.digest === one.digest ? before : undefined
}

function compared({ gate, scorer }: GateReport, one: CaseReport, before: CaseReport | undefined): ComparedCase {
  const field = 'maxRatio' in gate ? 'value' : 'score'
  return {
    id: one.id,
    now: meanOf(one, scorer, field),
    before: before && meanOf(before, scorer, field),
    reason: reasonOf(one, scorer),
    decisions: decisionsOf(one, before),
  }
}

function lossOf({ gate }: GateReport, { now, before }: ComparedCase): number {
  if (now === undefined) return 0
  if ('min' in gate) return 1 - now
  if (before === undefined) return 0
  return 'maxDrop' in gate ? before - now : now - before
}

/** The mean of a case's valid trials. */
export function meanOf({ trials }: CaseReport, scorer: string, field: 'score' | 'value'): number | undefined {
  const values = trials.flatMap(({ scores }) => numberIn(scores[scorer], field))
  return values.length === 0 ? undefined : mean(values)
}

/** Returns the reason of the trial with the lowest score. */
function reasonOf({ trials }: CaseReport, scorer: string): string {
  const results = trials.flatMap(({ scores }) => scores[scorer] ?? [])
  const reasons = results.flatMap((result) => ('reason' in result && result.reason !== undefined ? [result] : []))
  const [worst] = reasons.sort((a, b) => (scoreIn(a) ?? 1) - (scoreIn(b) ?? 1))
  return oneLine((worst as { reason?: string } | undefined)?.reason ?? '')
}

function scoreIn(result: ScoreReport): number | undefined {
  return 'invalid' in result ? undefined : result.score
}

/** Returns what layers decided, such as `"limit" denied refund (new)`, if the baseline has the case: which of it is new, and what is missing. */
export function decisionsOf(one: CaseReport, before: CaseReport | undefined): string[] {
  const now = decisionWords(one)
  if (before === undefined) return now
  const earlier = decisionWords(before)
  return [
    ...now.map((words) => (earlier.includes(words) ? words : `${words} (new)`)),
    ...earlier.filter((words) => !now.includes(words)).map((words) => `${words} (no longer)`),
  ]
}

function decisionWords({ trials }: CaseReport): string[] {
  const words = trials.flatMap(({ decisions }) =>
    decisions.map(({ layer, decision, tool }) => oneLine(`"${layer}" ${decision}${tool ? ` ${tool}` : ''}`)),
  )
  return [...new Set(words)]
}

/** Returns why trials have no score, the most frequent reasons first. */
export function invalidReasons({ cases }: EvalReport, scorer: string): { reason: string; trials: number }[] {
  const counts = new Map<string, number>()
  for (const { scores } of cases.flatMap((one) => one.trials)) {
    const result = scores[scorer]
    if (result === undefined || !('invalid' in result)) continue
    const reason = oneLine(String(result.invalid))
    counts.set(reason, (counts.get(reason) ?? 0) + 1)
  }
  return [...counts].map(([reason, trials]) => ({ reason, trials })).sort((a, b) => b.trials - a.trials)
}
