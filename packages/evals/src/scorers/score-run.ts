import { addUsage, messageOf, type Usage } from '@allium/core'
import { describe, isRecord } from '@allium/core/internal'
import type { ScoreReport } from '../report/report.ts'
import type { EvalRun, Score, Scorer } from '../run/run.ts'

/** Scores a run. Scorers that fail make the trial invalid. Adds their usage to `usage`. */
export async function scoreRun<E>(
  run: EvalRun<E>,
  scorers: readonly (readonly [string, Scorer<E>])[],
  usage: Usage,
): Promise<Record<string, ScoreReport>> {
  const scores: Record<string, ScoreReport> = {}
  for (const [name, scorer] of scorers) scores[name] = await scoreBy(scorer, run, usage)
  return scores
}

async function scoreBy<E>(scorer: Scorer<E>, run: EvalRun<E>, usage: Usage): Promise<ScoreReport> {
  if (run.status === 'lost') return { invalid: `The run gave no answer: ${run.reason}` }
  if (run.status === 'failed') return { score: 0, reason: `The run failed: ${run.reason}` }
  const missing = run.answers?.missing ?? []
  const before = missing.length
  try {
    const score = checked(await scorer(run), usage)
    return missing.length > before ? { invalid: String(missing[before]) } : score
  } catch (error) {
    run.signal.throwIfAborted()
    return { invalid: messageOf(error).slice(0, 500) }
  }
}

function checked(given: number | boolean | Score, usage: Usage): ScoreReport {
  const result: Score = isRecord(given) ? given : { score: Number(given) }
  if (result.usage !== undefined) addUsage(usage, result.usage)
  const { score, value, reason } = result
  const isWrong = typeof given !== 'boolean' && typeof given !== 'number' && !isRecord(given)
  if (isWrong || (score === undefined && value === undefined))
    return { invalid: `The scorer returned ${describe(given)}. Return a number from 0 to 1, or { score, reason }.` }
  if (score !== undefined && !(typeof score === 'number' && score >= 0 && score <= 1))
    return { invalid: `The scorer returned the score ${describe(score)}. A score is a number from 0 to 1.` }
  if (value !== undefined && !(typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY))
    return { invalid: `The scorer returned the value ${describe(value)}. A value is a number from 0 on.` }
  return {
    ...(score !== undefined && { score }),
    ...(value !== undefined && { value }),
    ...(typeof reason === 'string' && reason !== '' && { reason: reason.slice(0, 1000) }),
  }
}
