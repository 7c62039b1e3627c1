import { AlliumError } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import { checkReport } from './check-report.ts'
import type { EvalReport } from './report.ts'

/** Options of all reports. */
export interface ReportOptions {
  /** The report that `evaluate()` compared with. Cases are then shown beside their earlier scores and decisions. @default none */
  baseline?: EvalReport | undefined
}

export interface NamedReportOptions extends ReportOptions {
  /** The name of the evaluation. @default the agent's name */
  name?: string | undefined
}

/** One of several evaluations in the same report. */
export interface ReportPart extends NamedReportOptions {
  report: EvalReport
}

/** @param known the options besides those of all reports @throws AlliumError `options.invalid` */
export function checkReportOptions<O extends ReportOptions>(
  what: string,
  report: EvalReport | readonly ReportPart[],
  options: O,
  known: Omit<KeysOf<O>, 'baseline'>,
): void {
  checkOptions(options, { ...known, baseline: true }, what, 'options.invalid')
  const parts = partsOf(report, options)
  if (parts.length === 0) throw new AlliumError('options.invalid', `${what} needs at least one report.`)
  for (const part of parts) {
    checkOptions(part, { report: true, baseline: true, name: true }, `A part of ${what}`, 'options.invalid')
    checkReport(part.report, `The report of ${what}`)
    if (part.baseline !== undefined) checkReport(part.baseline, `The baseline of ${what}`)
  }
}

/** Returns the evaluations of a report. */
export function partsOf(
  report: EvalReport | readonly ReportPart[],
  { name, baseline }: NamedReportOptions,
): readonly ReportPart[] {
  return Array.isArray(report) ? report : [{ report: report as EvalReport, name, baseline }]
}
