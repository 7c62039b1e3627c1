import type { GateReport } from '../gates/gate.ts'
import { casesAgainst, invalidReasons } from './compared-cases.ts'
import { checkReportOptions, type NamedReportOptions, partsOf, type ReportPart } from './options.ts'
import type { EvalReport } from './report.ts'
import { calibrations, conditionOf, count, gateWords, oneLine, otherScores, plain, usageWords } from './words.ts'

/** GitHub rejects a comment of more than 65,536 characters. */
const longest = 60_000
/** How many cases of a gate are shown. */
const shownCases = 15

/**
 * Returns reports as Markdown, for the comment of a pull request: the verdict, a table of the gates, and for each gate that did not pass
 * the cases that count against it, with the layers that decided in them. It has at most 65,000 characters. Texts of models are escaped:
 * they mention nobody, and add no link, image or HTML.
 *
 * @throws AlliumError `options.invalid`
 */
export function markdownReport(report: EvalReport | readonly ReportPart[], options: NamedReportOptions = {}): string {
  checkReportOptions('markdownReport()', report, options, { name: true })
  const parts = partsOf(report, options)
  return bounded([...parts.map(overview), ...parts.flatMap((part) => sections(part, parts.length > 1))])
}

/** The verdict and the table of the gates. */
function overview({ report, name, baseline }: ReportPart): string {
  const { agent, cases, trials, verdict, gates } = report
  const counts = `${count(cases.length, 'case')}, ${count(trials, 'trial')} each`
  return [
    `### Evals of ${code(name ?? agent.name)}: ${verdict ?? 'no gates'}`,
    '',
    `${counts}${baseline === undefined ? '' : ', compared with a baseline'}. ${usageWords(report)}.`,
    '',
    '| verdict | scorer | gate | result | |',
    '|---|---|---|---|---|',
    ...gates.map(gateWords).map(gateRow),
    ...otherScores(report).map((other) => `| | ${code(other.name)} | | ${other.result} | |`),
    '',
    ...calibrations(report).map((text) => `${escaped(text)}.\n`),
  ].join('\n')
}

/** @param isNamed whether each section names its evaluation */
function sections(part: ReportPart, isNamed: boolean): string[] {
  const { name = part.report.agent.name, report } = part
  const open = report.gates.filter(({ verdict }) => verdict !== 'pass')
  const title = isNamed ? `${escaped(name, 80)}: ` : ''
  return open.map((gate) => gateSection(gate, part, title).join('\n')).filter((text) => text !== '')
}

function gateRow({ scorer, gate, verdict, result, reason }: ReturnType<typeof gateWords>): string {
  return `| **${verdict}** | ${code(scorer)} | ${gate} | ${result} | ${escaped(reason, 300)} |`
}

/** Joins parts up to the length of a comment, and says how many were left out. */
function bounded(parts: readonly string[]): string {
  let text = ''
  for (const [index, part] of parts.entries()) {
    if (text.length + part.length > longest)
      return `${text}\n${count(parts.length - index, 'more part')} did not fit into a comment.\n`
    text += `${part}\n`
  }
  return text
}

function gateSection(gate: GateReport, { report, baseline }: ReportPart, title: string): string[] {
  const cases = casesAgainst(gate, report, baseline)
  const invalid = invalidReasons(report, gate.scorer).slice(0, 3)
  if (cases.length + invalid.length === 0) return []
  const more = cases.length - shownCases
  const found = cases.length === 0 ? 'trials without a score' : `${count(cases.length, 'case')} against it`
  const table = cases
    .slice(0, shownCases)
    .map(
      ({ id, now, before, reason, decisions }) =>
        `| ${code(id)} | ${numberCell(now)} | ${numberCell(before)} | ${escaped(reason)} | ${decisions.slice(0, 5).map(code).join(', ')} |`,
    )
  return [
    `<details><summary>${title}${escaped(gate.scorer)}, ${escaped(conditionOf(gate.gate))}: ${found}</summary>`,
    '',
    ...(table.length === 0
      ? []
      : ['| case | now | baseline | reason | decisions |', '|---|--:|--:|---|---|', ...table, '']),
    ...(more > 0 ? [`And ${count(more, 'more case')}.`, ''] : []),
    ...invalid.map(({ reason, trials }) => `- ${count(trials, 'trial')} without a score: ${escaped(reason)}`),
    '',
    '</details>',
    '',
  ]
}

function numberCell(value: number | undefined): string {
  return value === undefined ? '' : plain(value)
}

/** Code without anything that could end it, or the cell. */
function code(text: string): string {
  return `\`${oneLine(text).replace(/[`|\\]/g, "'")}\``
}

/** A text without markup: every character that Markdown, HTML or a mention might need becomes an entity. */
function escaped(text: string, limit?: number): string {
  return oneLine(text, limit).replace(/[^\p{L}\p{N} .,]/gu, (character) => `&#${character.codePointAt(0)};`)
}
