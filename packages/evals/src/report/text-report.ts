import type { Verdict } from '../statistics/verdicts.ts'
import { type ComparedCase, casesAgainst, invalidReasons } from './compared-cases.ts'
import { checkReportOptions, type NamedReportOptions } from './options.ts'
import type { EvalReport } from './report.ts'
import { cut, padded, type Style, styler, widthOf, wrapped } from './terminal.ts'
import { calibrations, count, gateWords, oneLine, otherScores, plain, titleOf, usageWords } from './words.ts'

export interface TextReportOptions extends NamedReportOptions {
  /** Columns of the terminal. @default 100 */
  width?: number | undefined
  /** Whether verdicts are colored. @default false */
  color?: boolean | undefined
}

interface Paper {
  readonly width: number
  readonly style: ReturnType<typeof styler>
}

/**
 * Returns a report as text for a terminal: the gates with their result and what they need, the scorers without a gate, and for each gate
 * that did not pass the cases that count against it, with the layers that decided in them.
 *
 * @throws AlliumError `options.invalid`
 */
export function textReport(report: EvalReport, options: TextReportOptions = {}): string {
  checkReportOptions('textReport()', report, options, { name: true, width: true, color: true })
  const { name, baseline, width = 100, color = false } = options
  const paper = { width: Math.max(40, width), style: styler(color) }
  const { verdict, gates } = report
  const shown = verdict === undefined ? 'no gates' : verdictText(verdict, paper)
  const causes = gates
    .filter((gate) => gate.verdict !== 'pass')
    .flatMap((gate) => {
      const cases = casesAgainst(gate, report, baseline)
      const invalid = invalidReasons(report, gate.scorer)
      const { scorer, gate: condition } = gateWords(gate)
      const lines = [...caseLines(cases, paper), ...invalid.slice(0, 3).flatMap((one) => invalidLine(one, paper))]
      return lines.length === 0 ? [] : ['', paper.style('bold', `${oneLine(scorer)}: ${condition}`), ...lines]
    })
  return [
    ...wrapped(titleOf(report, name, baseline), paper.width - 12)
      .join('\n')
      .concat(`: ${shown}`)
      .split('\n'),
    '',
    ...gateLines(report, paper),
    ...causes,
    '',
    ...calibrations(report),
    paper.style('dim', usageWords(report)),
    '',
  ].join('\n')
}

/** The gates, and below each one its reason. */
function gateLines(report: EvalReport, paper: Paper): string[] {
  const gates = report.gates.map(gateWords)
  const others = otherScores(report).map(({ name, result }) => ({ scorer: name, gate: '', result }))
  const longest = Math.floor(paper.width / 3)
  const columns = (['scorer', 'gate'] as const).map((column) =>
    Math.max(0, ...[...gates, ...others].map((one) => widthOf(cut(oneLine(one[column]), longest)))),
  )
  const line = (verdict: string, { scorer, gate, result }: { scorer: string; gate: string; result: string }) => {
    const cells = [scorer, gate].map((cell, at) => padded(cut(oneLine(cell), longest), columns[at] ?? 0)).join('  ')
    const fits = indent + widthOf(cells) + 2 + widthOf(result) <= paper.width
    if (fits || result === '') return [`${verdict}${cells}  ${result}`.trimEnd()]
    return [`${verdict}${cells}`.trimEnd(), ...indented(result, paper)]
  }
  return [
    ...gates.flatMap((gate) => [
      ...line(`${verdictText(gate.verdict, paper)}${' '.repeat(indent - gate.verdict.length)}`, gate),
      ...(gate.verdict === 'pass' ? [] : indented(gate.reason, paper)),
    ]),
    ...others.flatMap((one) => line(' '.repeat(indent), one)),
  ]
}

/** The width of the longest verdict, and a gap. */
const indent = 11

function indented(text: string, { width }: Paper, by = indent): string[] {
  return wrapped(text, width - by).map((line) => `${' '.repeat(by)}${line}`)
}

const colors: Record<Verdict, Style> = { pass: 'green', fail: 'red', undecided: 'yellow', invalid: 'magenta' }

function verdictText(verdict: Verdict, { style }: Paper): string {
  return style(colors[verdict], verdict)
}

/** How many cases of a gate are shown. */
const shownCases = 10

function caseLines(cases: readonly ComparedCase[], paper: Paper): string[] {
  const more = cases.length - shownCases
  return [
    ...cases.slice(0, shownCases).flatMap(({ id, now, before, reason, decisions }) => {
      const score = `${plain(now ?? 0)}${before === undefined ? '' : `, was ${plain(before)}`}`
      return [
        `  ${cut(oneLine(id), paper.width - 16)}  ${score}`,
        ...(reason === '' ? [] : indented(reason, paper, 6)),
        ...decisions.flatMap((decision) => indented(decision, paper, 6)),
      ]
    }),
    ...(more > 0 ? [`  and ${count(more, 'more case')}`] : []),
  ]
}

function invalidLine({ reason, trials }: { reason: string; trials: number }, paper: Paper): string[] {
  return indented(`${count(trials, 'trial')} without a score: ${reason}`, paper, 2)
}
