import { checkReportOptions, type NamedReportOptions, partsOf, type ReportPart } from '../options.ts'
import type { EvalReport } from '../report.ts'
import { oneLine } from '../words.ts'
import { evalSection } from './eval-section.ts'
import { html, Markup } from './markup.ts'
import { pageStyle, styleHash } from './page-style.ts'

export interface HtmlReportOptions extends NamedReportOptions {
  /** The time of the evaluation, which the page shows. @default none */
  at?: Date | undefined
}

/**
 * Returns reports as one page of HTML that loads nothing, has no script, and sets a Content-Security-Policy: gates with their intervals, the
 * cases that count against them, and for each case its answers, tool calls, scores and decisions beside the baseline. Long texts are cut, so
 * that the page opens quickly. Texts of models and users are escaped.
 *
 * @throws AlliumError `options.invalid`
 */
export function htmlReport(report: EvalReport | readonly ReportPart[], options: HtmlReportOptions = {}): string {
  checkReportOptions('htmlReport()', report, options, { name: true, at: true })
  const parts = partsOf(report, options)
  const names = parts.map(({ name, report: one }) => name ?? one.agent.name)
  const policy = `default-src 'none'; style-src '${styleHash}'; base-uri 'none'; form-action 'none'`
  const time = options.at?.toISOString().replace('T', ' ').slice(0, 16)
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Evals: ${names.join(', ')}</title>
<style>${new Markup(pageStyle)}</style></head>
<body><header><h1>Evals</h1>
${time === undefined ? undefined : html`<p class="soft">${time} UTC</p>`}
${parts.length < 2 ? undefined : html`<nav aria-label="Evaluations"><ul>${parts.map((part, at) => navItem(part, names[at] ?? '', at))}</ul></nav>`}
</header><main>
${parts.map((part, at) => evalSection(part, `eval-${at + 1}`))}
</main></body></html>
`.text
}

function navItem({ report }: ReportPart, name: string, at: number): Markup {
  const { verdict = 'no gates' } = report
  return html`<li><a href="#eval-${at + 1}">${oneLine(name)}</a>: ${verdict}</li>`
}
