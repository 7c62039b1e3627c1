import type { GateReport } from '../gates/gate.ts'
import { checkReport } from './check-report.ts'
import { type ComparedCase, casesAgainst, invalidReasons } from './compared-cases.ts'
import { checkReportOptions, type ReportOptions } from './options.ts'
import type { EvalReport } from './report.ts'
import { count, gateWords, oneLine, plain } from './words.ts'

interface MatcherResult {
  pass: boolean
  message(): string
}

export interface PassGatesOptions extends ReportOptions {
  /** Whether a gate with too few cases passes, too. @default false */
  allowUndecided?: boolean | undefined
}

export function toPassGates(received: unknown, options: PassGatesOptions = {}): MatcherResult {
  checkReport(received, 'The value of toPassGates()')
  checkReportOptions('toPassGates()', received, options, { allowUndecided: true })
  const { gates, agent } = received
  if (gates.length === 0)
    throw new TypeError(
      `The report of "${agent.name}" has no gates. Give evaluate() gates, such as { right: { min: 0.9 } }.`,
    )
  const accepted = options.allowUndecided ? ['pass', 'undecided'] : ['pass']
  const open = gates.filter(({ verdict }) => !accepted.includes(verdict))
  return {
    pass: open.length === 0,
    message: () =>
      open.length === 0
        ? `Expected a gate of "${agent.name}" not to pass, but all ${gates.length} do.`
        : [
            `${count(open.length, 'gate')} of "${agent.name}" did not pass.`,
            ...open.flatMap((gate) => gateLines(gate, received, options.baseline)),
          ].join('\n'),
  }
}

export function toScore(received: unknown, scorer: string, atLeast: number): MatcherResult {
  checkReport(received, 'The value of toScore()')
  const summary = Object.hasOwn(received.scorers, scorer) ? received.scorers[scorer] : undefined
  if (summary === undefined)
    throw new TypeError(
      `The report has no scorer "${scorer}". Its scorers are ${Object.keys(received.scorers).join(', ')}.`,
    )
  if (!(atLeast >= 0 && atLeast <= 1)) throw new TypeError(`toScore() takes a score from 0 to 1, not ${atLeast}.`)
  const { score, invalid, trials } = summary
  // A trial without a score proves nothing, so it counts as 0.
  const mean = (score ?? 0) * (1 - invalid / trials)
  const gate = { ...nothing, scorer, gate: { min: atLeast } }
  return {
    pass: mean >= atLeast,
    message: () =>
      [
        `Expected "${scorer}" to score ${mean >= atLeast ? 'below' : 'at least'} ${plain(atLeast)}, but it scored ${plain(mean)}${invalid === 0 ? '' : `, with ${invalid} of ${trials} trials without a score`}.`,
        ...caseLines(casesAgainst(gate, received)),
      ].join('\n'),
  }
}

const nothing = { verdict: 'fail', units: 0, invalid: 0, uncompared: [], reason: '' } as const

function gateLines(gate: GateReport, report: EvalReport, baseline: EvalReport | undefined): string[] {
  const { scorer, gate: condition, verdict, result, reason } = gateWords(gate)
  const invalid = invalidReasons(report, scorer).slice(0, 3)
  return [
    '',
    `${verdict}: ${scorer}, ${condition}${result === '' ? '' : `: ${result}`}`,
    reason,
    ...caseLines(casesAgainst(gate, report, baseline)),
    ...invalid.map((one) => `  ${count(one.trials, 'trial')} without a score: ${one.reason}`),
  ]
}

function caseLines(cases: readonly ComparedCase[]): string[] {
  const more = cases.length - 10
  return [
    ...cases.slice(0, 10).map(({ id, now, before, reason, decisions }) => {
      const why = [reason, ...decisions].filter((text) => text !== '').join('; ')
      return `  ${oneLine(id)}: ${plain(now ?? 0)}${before === undefined ? '' : `, was ${plain(before)}`}${why === '' ? '' : `. ${why}`}`
    }),
    ...(more > 0 ? [`  and ${count(more, 'more case')}`] : []),
  ]
}
