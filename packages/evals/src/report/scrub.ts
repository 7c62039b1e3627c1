import { isRecord } from '@allium/core/internal'
import type { ScoreReport, TrialReport } from './report.ts'

export type Scrub = (text: string) => string

/** Returns the trial with each text replaced that came from the agent, its tools, its layers or a scorer. Names and statuses stay. */
export function scrubbed(trial: TrialReport, scrub: Scrub | undefined): TrialReport {
  if (scrub === undefined) return trial
  const { text, calls, decisions, scores } = trial
  return {
    ...withReason(trial, scrub),
    text: scrub(text),
    calls: calls.map((call) => ({ ...call, args: scrubTexts(call.args, scrub), content: scrub(call.content) })),
    decisions: decisions.map((decision) => withReason(decision, scrub)),
    scores: Object.fromEntries(Object.entries(scores).map(([name, score]) => [name, scrubScore(score, scrub)])),
  }
}

function scrubScore(score: ScoreReport, scrub: Scrub): ScoreReport {
  return 'invalid' in score ? { invalid: scrub(score.invalid) } : withReason(score, scrub)
}

function withReason<T extends { readonly reason?: string }>(one: T, scrub: Scrub): T {
  return one.reason === undefined ? one : { ...one, reason: scrub(one.reason) }
}

/** Replaces each text in a value as JSON has it. */
function scrubTexts(value: unknown, scrub: Scrub): unknown {
  if (typeof value === 'string') return scrub(value)
  if (Array.isArray(value)) return value.map((item) => scrubTexts(item, scrub))
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, scrubTexts(item, scrub)]))
}
