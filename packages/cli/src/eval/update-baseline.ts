import { relative } from 'node:path'
import type { CommandContext } from '../command-context.ts'
import { exitCodes } from '../exit-codes.ts'
import { visible } from '../printable.ts'
import type { Evals, LoadedEval } from './load-eval.ts'
import type { EvalOutcome } from './run-eval.ts'

/** With a larger share of invalid trials, every later comparison would be invalid. */
const maxInvalid = 0.1

/** Stores a report as the baseline of its evaluation, unless it could not be compared with. Returns the exit code. */
export async function updateBaseline(
  { baseline: path }: LoadedEval,
  { name, report }: EvalOutcome,
  { writeReport }: Evals,
  { stderr, cwd }: CommandContext,
): Promise<number> {
  const worst = Object.entries(report.scorers).find(([, { invalid, trials }]) => invalid > maxInvalid * trials)
  if (worst !== undefined) {
    const [scorer, { invalid, trials }] = worst
    stderr.write(
      `The baseline of "${visible(name)}" was not stored: ${invalid} of ${trials} trials have no score of "${visible(scorer)}". The maximum is 10 %.\n`,
    )
    return exitCodes.invalid
  }
  await writeReport(path, report)
  stderr.write(`${visible(relative(cwd(), path))} is the new baseline of "${visible(name)}". Commit it.\n`)
  return exitCodes.ok
}
