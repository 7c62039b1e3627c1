import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { AnswersSummary, OpenedAnswers } from '@allium/evals/answers'
import { isAlliumError } from 'allium'
import type { CommandContext } from '../command-context.ts'
import { UsageError } from '../exit-codes.ts'
import { visible } from '../printable.ts'
import type { EvalArguments } from './eval-arguments.ts'
import type { LoadedEval } from './load-eval.ts'

/** The file of recorded answers of an evaluation, if it is used. */
export interface EvalAnswers {
  readonly path: string
  readonly opened: OpenedAnswers
}

/** Opens the recorded answers of an evaluation. Undefined if its models are called. @throws UsageError */
export async function openEvalAnswers(
  { path: file, name, definition: { scrub } }: LoadedEval,
  { answers }: EvalArguments,
  { env }: CommandContext,
): Promise<EvalAnswers | undefined> {
  const path = join(dirname(file), `${name}.answers.jsonl`)
  const mode = answers ?? (isCi(env) && existsSync(path) ? 'replay' : 'live')
  if (mode === 'live') return undefined
  if (mode === 'replay' && !existsSync(path))
    throw new UsageError(`There is no ${path}. Record the answers: allium eval ${name} --record`)
  const { openAnswers } = await import('@allium/evals/answers')
  try {
    return { path, opened: await openAnswers(path, { mode, scrub }) }
  } catch (error) {
    throw isAlliumError(error) ? new UsageError(error.message) : error
  }
}

/** Stores the answers, and prints what a person has to do. After a part of the trials, no answer is removed. */
export async function saveEvalAnswers(
  { path, opened }: EvalAnswers,
  { name, isPartial }: LoadedEval,
  { trials }: EvalArguments,
  { stderr, cwd }: CommandContext,
): Promise<void> {
  const prune = !isPartial && trials === undefined
  const summary = await opened.save({ prune })
  for (const line of linesOf(visible(relative(cwd(), path)), visible(name), opened.mode, summary, prune))
    stderr.write(`${line}\n`)
}

function linesOf(
  file: string,
  name: string,
  mode: OpenedAnswers['mode'],
  { used, recorded, stale, missing, tooLarge }: AnswersSummary,
  prune: boolean,
): string[] {
  const record = `allium eval ${name} --record-missing`
  const removed = prune && stale > 0 ? `, and ${stale} that no request asked for were removed` : ''
  const lines = mode === 'replay' ? [`${used} answers from ${file}`] : []
  if (mode !== 'replay') lines.push(`${recorded} answers were recorded in ${file}${removed}. Commit it.`)
  if (missing > 0) lines.push(`${missing} model calls have no recorded answer. Record them: ${record}`)
  if (mode === 'replay' && prune && stale > 0)
    lines.push(`${stale} recorded answers are not used. Remove them: ${record}`)
  if (tooLarge > 0) lines.push(`${tooLarge} answers have over a million characters, and were not recorded.`)
  return lines
}

function isCi({ CI: ci = '' }: CommandContext['env']): boolean {
  return !['', '0', 'false'].includes(ci.toLowerCase())
}
