import { isRecord } from '@allium/core/internal'
import type { CleanText } from '@allium/shared/recording'
import type { ScoreReport, TrialReport } from './report.ts'

/** Returns the trial with each text replaced that came from the agent, its tools, its layers or a scorer. Names and statuses stay. */
export function scrubbed(trial: TrialReport, clean: CleanText): TrialReport {
  const { text, calls, decisions, scores } = trial
  return {
    ...withReason(trial, clean),
    text: clean(text),
    calls: calls.map((call) => ({ ...call, args: scrubTexts(call.args, clean), content: clean(call.content) })),
    decisions: decisions.map((decision) => withReason(decision, clean)),
    scores: Object.fromEntries(Object.entries(scores).map(([name, score]) => [name, scrubScore(score, clean)])),
  }
}

function scrubScore(score: ScoreReport, clean: CleanText): ScoreReport {
  return 'invalid' in score ? { invalid: clean(score.invalid) } : withReason(score, clean)
}

function withReason<T extends { readonly reason?: string }>(one: T, clean: CleanText): T {
  return one.reason === undefined ? one : { ...one, reason: clean(one.reason) }
}

/** Replaces each text in a value as JSON has it. */
function scrubTexts(value: unknown, clean: CleanText): unknown {
  if (typeof value === 'string') return clean(value)
  if (Array.isArray(value)) return value.map((item) => scrubTexts(item, clean))
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, scrubTexts(item, clean)]))
}
