import { AlliumError } from '@allium/core'
import { isRecord } from '@allium/core/internal'
import type { EvalReport } from './report.ts'

/** Checks a report that may come from a file. @throws AlliumError `options.invalid` */
export function checkReport(report: unknown, what: string): asserts report is EvalReport {
  const { version } = isRecord(report) ? report : {}
  if (version === 1 && isReport(report)) return
  const found = version === undefined || version === 1 ? 'no report of evaluate()' : `a report of version ${version}`
  throw new AlliumError('options.invalid', `${what} is ${found}. Create a new one with evaluate() and writeReport().`)
}

type Check = (value: unknown) => boolean

const isText: Check = (value) => typeof value === 'string'
const isNumber: Check = (value) => typeof value === 'number' && Number.isFinite(value)
const oneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value)
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value)
const listOf =
  (check: Check, least = 0): Check =>
  (value) =>
    Array.isArray(value) && value.length >= least && value.every(check)
const recordOf =
  (check: Check): Check =>
  (value) =>
    isRecord(value) && Object.values(value).every(check)
const shape =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isRecord(value) && Object.entries(fields).every(([name, check]) => check(value[name]))

function isReport(value: unknown): boolean {
  const isVerdict = oneOf('pass', 'fail', 'undecided', 'invalid')
  const isLimit: Check = (gate) => isRecord(gate) && ['min', 'maxDrop', 'maxRatio'].some((name) => isNumber(gate[name]))
  const isUsage = shape({ calls: isNumber, inputTokens: isNumber, outputTokens: isNumber })
  const isCall = shape({ name: isText, status: isText, content: isText })
  const isDecision = shape({ layer: isText, decision: isText, tool: optional(isText), reason: optional(isText) })
  const isScore: Check = (score) =>
    shape({ invalid: isText })(score) ||
    shape({
      score: optional(isNumber),
      value: optional(isNumber),
      reason: optional(isText),
      invalid: oneOf(undefined),
    })(score)
  const isTrial = shape({
    ...{ status: isText, reason: optional(isText), text: isText, calls: listOf(isCall), decisions: listOf(isDecision) },
    ...{ usage: isUsage, steps: isNumber, duration: isNumber, scores: recordOf(isScore) },
  })
  const isGate = shape({
    ...{ scorer: isText, gate: isLimit, verdict: isVerdict, estimate: optional(isNumber), units: isNumber },
    ...{ interval: optional(listOf(isNumber, 2)), invalid: isNumber, uncompared: listOf(isText), reason: isText },
  })
  const isCalibration = shape({ agreement: isNumber, labels: isNumber })
  const isSummary = shape({
    ...{ score: optional(isNumber), value: optional(isNumber), invalid: isNumber, trials: isNumber },
    calibration: optional(isCalibration),
  })
  const isCase = shape({
    ...{ id: isText, digest: isText, group: optional(isText), tags: optional(listOf(isText)) },
    trials: listOf(isTrial, 1),
  })
  return shape({
    ...{ agent: shape({ name: isText, version: optional(isText) }), trials: isNumber, verdict: optional(isVerdict) },
    ...{ gates: listOf(isGate), scorers: recordOf(isSummary), cases: listOf(isCase, 1) },
    ...{ usage: isUsage, scorerUsage: isUsage },
  })(value)
}
