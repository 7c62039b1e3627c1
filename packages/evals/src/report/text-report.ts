import { gateWords, oneLine, plain, weakCases } from './gate-words.ts'
import type { EvalReport } from './report.ts'

/**
 * Returns a report as a table for a terminal, without colors: the gates, the scorers without a gate, and the weakest cases of each
 * gate that did not pass, with the layers that decided in them.
 */
export function textReport(report: EvalReport): string {
  const { agent, cases, trials, verdict, gates, scorers } = report
  const gated = new Set(gates.map(({ scorer }) => scorer))
  const rows = gates.map(gateWords).map((one) => [one.verdict, one.scorer, one.gate, one.result, one.reason])
  const others = Object.entries(scorers).filter(([name]) => !gated.has(name))
  const means = others.map(([name, { score, value }]) => ['', name, '', numbersOf(score, value), ''])
  const weak = gates
    .filter((gate) => gate.verdict !== 'pass')
    .flatMap(({ scorer }) => [`\nLowest scores of ${scorer}`, ...weakLines(report, scorer)])
  return [
    `${agent.name}: ${cases.length} cases, ${trials} trials each${verdict === undefined ? '' : `: ${verdict}`}`,
    ...table([...rows, ...means]),
    ...weak,
    '',
  ].join('\n')
}

function weakLines(report: EvalReport, scorer: string): string[] {
  const weak = weakCases(report, scorer)
  if (weak.length === 0) return ['  none below 1']
  return table(
    weak.map(({ id, score, reason, decisions }) => [`  ${oneLine(id)}`, plain(score), reason, decisions.join(', ')]),
  )
}

function numbersOf(score: number | undefined, value: number | undefined): string {
  const parts = [score === undefined ? '' : plain(score), value === undefined ? '' : `value ${plain(value)}`]
  return parts.filter((part) => part !== '').join(', ')
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
