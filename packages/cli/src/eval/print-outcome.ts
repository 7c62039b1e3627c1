import { textReport } from '@allium/evals/report'
import type { CommandContext } from '../command-context.ts'
import { toLine } from '../print-run.ts'
import { visible } from '../printable.ts'
import type { EvalArguments } from './eval-arguments.ts'
import type { EvalOutcome } from './run-eval.ts'

/** Prints the results of an evaluation: as a table, or with `--json` as one line. */
export async function printOutcome(
  { name, report, baseline }: EvalOutcome,
  { json }: EvalArguments,
  { stdout, stderr }: CommandContext,
): Promise<void> {
  if (json) {
    stdout.write(`${toLine({ type: 'eval', name, hasBaseline: baseline !== undefined, report })}\n`)
    return
  }
  stdout.write(textReport(report))
  const needsBaseline = report.gates.some(({ gate }) => !('min' in gate))
  if (baseline === undefined && needsBaseline)
    stderr.write(`"${visible(name)}" has no baseline. Store one: allium eval ${visible(name)} --update-baseline\n`)
}
