import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { EvalReport } from '@allium/evals'
import { isAlliumError } from 'allium'
import type { CommandContext } from '../command-context.ts'
import { interrupted, UsageError } from '../exit-codes.ts'
import { openEvalAnswers, saveEvalAnswers } from './eval-answers.ts'
import type { EvalArguments } from './eval-arguments.ts'
import type { Evals, LoadedEval } from './load-eval.ts'
import { createProgress } from './progress.ts'

/** The results of an evaluation, with those before. */
export interface EvalOutcome {
  readonly name: string
  readonly report: EvalReport
  readonly baseline: EvalReport | undefined
}

/** Runs an evaluation and stores its report. Ctrl-C rejects with `interrupted`, and leaves the earlier report. */
export async function runEval(
  one: LoadedEval,
  evals: Evals,
  args: EvalArguments,
  context: CommandContext,
): Promise<EvalOutcome> {
  const { name, definition } = one
  const answers = await openEvalAnswers(one, args, context)
  const baseline = await baselineOf(one, evals)
  const abort = new AbortController()
  // A second Ctrl-C ends the process, even if a tool does not stop.
  const onInterrupt = () => {
    context.off('SIGINT', onInterrupt)
    context.stderr.write('\nStopping. Ctrl-C again ends at once.\n')
    abort.abort(interrupted)
  }
  context.on('SIGINT', onInterrupt)
  const total = definition.cases.length * (definition.trials ?? 3)
  const progress = createProgress(name, total, context)
  try {
    const { signal } = abort
    const onProgress = progress.update
    const report = await evals.evaluate({ ...definition, baseline, signal, onProgress, answers: answers?.opened })
    progress.clear()
    if (answers !== undefined) await saveEvalAnswers(answers, one, args, context)
    await store(one, report, evals, context)
    return { name, report, baseline }
  } finally {
    progress.clear()
    context.off('SIGINT', onInterrupt)
  }
}

async function baselineOf({ baseline: path }: LoadedEval, { readReport }: Evals): Promise<EvalReport | undefined> {
  if (!existsSync(path)) return undefined
  try {
    return await readReport(path)
  } catch (error) {
    if (!isAlliumError(error)) throw error
    throw new UsageError(`${error.message} Or remove the file, and run allium eval --update-baseline.`)
  }
}

async function store({ name }: LoadedEval, report: EvalReport, { writeReport }: Evals, { cwd }: CommandContext) {
  const folder = join(cwd(), '.allium', 'evals')
  await mkdir(folder, { recursive: true })
  await writeReport(join(folder, `${name}.json`), report)
}
