import type { GateReport } from '../gates/gate.ts'
import type { Calibration } from './calibration.ts'
import type { EvalReport, ScorerSummary } from './report.ts'

/** A gate in words for reporters. */
export interface GateWords {
  readonly scorer: string
  /** The condition, such as `drop < 5 points`. */
  readonly gate: string
  readonly verdict: GateReport['verdict']
  /** The estimate with its interval; empty if nothing was compared. */
  readonly result: string
  readonly reason: string
}

export function gateWords({ scorer, gate, verdict, estimate, interval, reason }: GateReport): GateWords {
  const write = writerOf(gate)
  const number = 'maxDrop' in gate ? (value: number) => plain(Math.round(value * 1000) / 10) : plain
  const range = interval === undefined ? '' : ` (${number(interval[0])} to ${number(interval[1])})`
  const result = estimate === undefined ? '' : `${write(estimate)}${range}`
  return { scorer, gate: conditionOf(gate), verdict, result, reason }
}

/** Returns the condition of a gate, such as `drop < 5 points`. */
export function conditionOf(gate: GateReport['gate']): string {
  const write = writerOf(gate)
  if ('min' in gate) return `mean > ${write(gate.min)}`
  return 'maxDrop' in gate ? `drop < ${write(gate.maxDrop)}` : `ratio < ${write(gate.maxRatio)}`
}

function writerOf(gate: GateReport['gate']): (value: number) => string {
  return 'maxDrop' in gate ? points : plain
}

/** Returns the first line of a report, without the verdict. */
export function titleOf({ agent, cases, trials }: EvalReport, name = agent.name, baseline?: EvalReport): string {
  const counts = `${count(cases.length, 'case')}, ${count(trials, 'trial')} each`
  return `${oneLine(name)}: ${counts}${baseline === undefined ? '' : ', compared with a baseline'}`
}

/** Returns the means of the scorers that no gate is about. */
export function otherScores({ scorers, gates }: EvalReport): { name: string; result: string }[] {
  const gated = new Set(gates.map(({ scorer }) => scorer))
  return Object.entries(scorers)
    .filter(([name]) => !gated.has(name))
    .map(([name, summary]) => ({ name, result: numbersOf(summary) }))
}

function numbersOf({ score, value, invalid, trials }: ScorerSummary): string {
  const parts = [
    score === undefined ? '' : plain(score),
    value === undefined ? '' : `value ${plain(value)}`,
    invalid === 0 ? '' : `${invalid} of ${trials} trials are invalid`,
  ]
  return parts.filter((part) => part !== '').join(', ')
}

/** Returns how well judges agree with people. */
export function calibrations({ scorers }: EvalReport): string[] {
  return Object.entries(scorers).flatMap(([name, { calibration }]) =>
    calibration === undefined ? [] : [`${oneLine(name)} ${agreement(calibration)}`],
  )
}

function agreement({ agreement: share, labels }: Calibration): string {
  return `agrees with people in ${percent(share)} of ${count(labels, 'answer')}`
}

/** Returns what an evaluation used, such as `120 calls, 45,300 tokens; judges: 60 calls, 9,000 tokens`. */
export function usageWords({ usage, scorerUsage }: EvalReport): string {
  const words = ({ calls, inputTokens, outputTokens }: EvalReport['usage']) =>
    `${count(calls, 'call')}, ${count(inputTokens + outputTokens, 'token')}`
  return `${words(usage)}${scorerUsage.calls === 0 ? '' : `; judges: ${words(scorerUsage)}`}`
}

/** Texts of models and users must not add lines, control sequences or a change of direction to a report. */
export function oneLine(text: string, limit = 120): string {
  const line = text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  return line.length > limit ? `${line.slice(0, limit - 1)}…` : line
}

/** Writes a number with at most three decimals. */
export function plain(value: number): string {
  return String(Math.round(value * 1000) / 1000)
}

/** Writes a share as points of 100. */
export function points(value: number): string {
  return `${Math.round(value * 1000) / 10} points`
}

export function percent(share: number): string {
  return `${Math.round(share * 1000) / 10} %`
}

export function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`
}
