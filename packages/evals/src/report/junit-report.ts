import type { GateReport } from '../gates/gate.ts'
import { type ComparedCase, casesAgainst } from './compared-cases.ts'
import { checkReportOptions, type NamedReportOptions, partsOf, type ReportPart } from './options.ts'
import type { CaseReport, EvalReport } from './report.ts'
import { conditionOf, gateWords, oneLine, plain } from './words.ts'
import { element, xmlText } from './xml.ts'

export interface JunitReportOptions extends NamedReportOptions {
  /** Whether an undecided gate is skipped, not failed. @default false */
  allowUndecided?: boolean | undefined
}

/** A testcase, and how it ended. */
interface Testcase {
  readonly xml: string
  readonly end: 'passed' | 'failure' | 'error' | 'skipped'
  readonly seconds: number
}

/**
 * Returns reports as JUnit XML, which GitLab, Jenkins and others show: a testcase for each gate and for each case. A gate that fails or is
 * undecided is a failure, and so is each case that counts against a failed gate. An invalid gate is an error, and so is each case without a
 * score of it.
 *
 * @throws AlliumError `options.invalid`
 */
export function junitReport(report: EvalReport | readonly ReportPart[], options: JunitReportOptions = {}): string {
  checkReportOptions('junitReport()', report, options, { name: true, allowUndecided: true })
  const suites = partsOf(report, options).flatMap((part) => suitesOf(part, options.allowUndecided ?? false))
  const content = suites.map(({ xml }) => `\n${xml}`).join('')
  const root = element('testsuites', totals(suites.flatMap(({ testcases }) => testcases)), `${content}\n`)
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root}\n`
}

function suitesOf({ report, name = report.agent.name, baseline }: ReportPart, allowUndecided: boolean) {
  const failed = report.gates
    .filter(({ verdict }) => verdict === 'fail')
    .map((gate) => ({ gate, against: new Map(casesAgainst(gate, report, baseline).map((one) => [one.id, one])) }))
  const invalid = report.gates.filter(({ verdict }) => verdict === 'invalid')
  const gates = report.gates.map((gate) => gateTestcase(gate, name, allowUndecided))
  const cases = report.cases.map((one) => caseTestcase(one, name, failed, invalid))
  return [suite(`${name}: gates`, gates), suite(`${name}: cases`, cases)].filter(
    ({ testcases }) => testcases.length > 0,
  )
}

function suite(name: string, testcases: readonly Testcase[]): { xml: string; testcases: readonly Testcase[] } {
  const content = testcases.map(({ xml }) => `\n${xml}`).join('')
  return { xml: element('testsuite', { name, ...totals(testcases) }, `${content}\n`), testcases }
}

function totals(testcases: readonly Testcase[]): Record<string, string | number> {
  const countOf = (end: Testcase['end']) => testcases.filter((one) => one.end === end).length
  const time = testcases.reduce((sum, { seconds }) => sum + seconds, 0).toFixed(3)
  const counts = { failures: countOf('failure'), errors: countOf('error'), skipped: countOf('skipped') }
  return { tests: testcases.length, ...counts, time }
}

function gateTestcase(gate: GateReport, suiteName: string, allowUndecided: boolean): Testcase {
  const { verdict, scorer, result, reason, gate: condition } = gateWords(gate)
  const end = (
    { pass: 'passed', fail: 'failure', invalid: 'error', undecided: allowUndecided ? 'skipped' : 'failure' } as const
  )[verdict]
  return testcase(`${scorer}: ${condition}`, `${suiteName}.gates`, 0, end, [`${verdict}: ${result}`.trim(), reason])
}

type FailedGate = { readonly gate: GateReport; readonly against: ReadonlyMap<string, ComparedCase> }

function caseTestcase(
  one: CaseReport,
  suiteName: string,
  failed: readonly FailedGate[],
  invalid: readonly GateReport[],
): Testcase {
  const seconds = one.trials.reduce((sum, { duration }) => sum + duration, 0) / 1000
  const failures = failed.flatMap(({ gate, against }) => {
    const found = against.get(one.id)
    return found === undefined ? [] : failureLines(gate, found)
  })
  const faults = invalid.flatMap(({ scorer }) => faultLines(one, scorer))
  const place = `${suiteName}.cases`
  if (failures.length > 0) return testcase(one.id, place, seconds, 'failure', [...failures, ...faults, ...answers(one)])
  return testcase(one.id, place, seconds, faults.length > 0 ? 'error' : 'passed', faults)
}

function failureLines({ scorer, gate }: GateReport, { now, before, reason, decisions }: ComparedCase): string[] {
  const change = `${plain(now ?? 0)}${before === undefined ? '' : `, was ${plain(before)}`}`
  return [`${scorer} (${conditionOf(gate)}): ${change}`, ...(reason === '' ? [] : [reason]), ...decisions]
}

function faultLines({ trials }: CaseReport, scorer: string): string[] {
  return trials.flatMap(({ scores }) => {
    const result = scores[scorer]
    return result !== undefined && 'invalid' in result ? [`${scorer}: no score: ${oneLine(result.invalid)}`] : []
  })
}

function answers({ trials }: CaseReport): string[] {
  return trials.slice(0, 3).map(({ text, status }, index) => `Trial ${index + 1}, ${status}: ${oneLine(text, 1000)}`)
}

function testcase(
  name: string,
  classname: string,
  seconds: number,
  end: Testcase['end'],
  lines: readonly string[],
): Testcase {
  const [message = '', ...rest] = lines.map((line) => oneLine(line, 1200))
  const detail = end === 'skipped' ? '' : xmlText([message, ...rest].join('\n'))
  const outcome =
    end === 'passed'
      ? ''
      : element(end, { message, ...(end !== 'skipped' && { type: end === 'error' ? 'invalid' : 'gate' }) }, detail)
  const attributes = { name: oneLine(name, 200), classname: oneLine(classname, 200), time: seconds.toFixed(3) }
  return { xml: element('testcase', attributes, outcome), end, seconds }
}
