import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import { htmlReport, junitReport, markdownReport, textReport } from '@allium/evals/report'
import type { CommandContext } from '../command-context.ts'
import { toLine } from '../print-run.ts'
import { visible } from '../printable.ts'
import type { EvalArguments, ReportFormat } from './eval-arguments.ts'
import type { EvalOutcome } from './run-eval.ts'

/** Prints the results of an evaluation: as a table, or with `--json` as one line. */
export function printOutcome(
  { name, report, baseline }: EvalOutcome,
  args: EvalArguments,
  context: CommandContext,
): void {
  const { stdout, stderr } = context
  if (args.json) {
    stdout.write(`${toLine({ type: 'eval', name, hasBaseline: baseline !== undefined, report })}\n`)
    return
  }
  stdout.write(`${textReport(report, { name, baseline, width: widthOf(context), color: hasColor(context) })}\n`)
  const needsBaseline = report.gates.some(({ gate }) => !('min' in gate))
  if (baseline === undefined && needsBaseline && !args.updateBaseline)
    stderr.write(`"${visible(name)}" has no baseline. Store one: allium eval ${visible(name)} --update-baseline\n`)
}

export function widthOf({ stdout }: CommandContext): number {
  return stdout.columns ?? 100
}

function hasColor({ stdout, env }: CommandContext): boolean {
  return stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb'
}

/** Writes the reports that the command line names, with all evaluations so far in each. */
export async function writeReports(
  outcomes: readonly EvalOutcome[],
  { reports, allowUndecided }: EvalArguments,
  { cwd, stderr }: CommandContext,
): Promise<void> {
  const formats: Record<ReportFormat, () => string> = {
    junit: () => junitReport(outcomes, { allowUndecided }),
    markdown: () => markdownReport(outcomes),
    html: () => htmlReport(outcomes, { at: new Date() }),
  }
  for (const [format, write] of Object.entries(formats)) {
    const file = reports[format as ReportFormat]
    if (file === undefined || outcomes.length === 0) continue
    const path = resolve(cwd(), file)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, write())
    stderr.write(`${visible(relative(cwd(), path))} has the ${format} report.\n`)
  }
}
