import type { CaseReport } from '../report/report.ts'
import { casesNeeded, smallestLimit } from '../statistics/margin.ts'
import { Decider, type Decision, type Verdict } from '../statistics/verdicts.ts'
import { type Gate, type GateKind, type GateReport, kindOf } from './gate.ts'
import { type Compared, lossesOf } from './losses-of.ts'

/** With a larger share of invalid trials, or of cases without a baseline, a gate is invalid. */
const maxInvalid = 0.1

/** Returns the verdicts of the gates. @param baseline the cases of the baseline; undefined without one */
export function judgeGates(
  gates: readonly { readonly scorer: string; readonly gate: Gate }[],
  cases: readonly CaseReport[],
  baseline: readonly CaseReport[] | undefined,
): GateReport[] {
  const compared = gates.map(({ scorer, gate }) => {
    const kind = kindOf(gate, scorer)
    const losses = lossesOf(kind, scorer, cases, baseline ?? [])
    return { scorer, gate, kind, losses, fault: faultOf(kind, losses, cases.length, baseline !== undefined) }
  })
  // Invalid gates take part, too: which ones are compared must not depend on their results.
  const decidable = compared.map(({ losses }) => (losses.best.length === 0 ? noLosses(losses) : losses))
  const decisions = new Decider().decide(decidable)
  return compared.map(({ scorer, gate, kind, losses, fault }, index) => {
    const decision = decisions[index] as Decision
    const verdict: Verdict = fault === undefined ? decision.verdict : 'invalid'
    const hasUnits = losses.best.length > 0
    return {
      scorer,
      gate,
      verdict,
      ...(!Number.isNaN(losses.estimate) && { estimate: shown(kind, losses.estimate) }),
      ...(hasUnits && { interval: intervalOf(kind, decision) }),
      units: losses.best.length,
      invalid: losses.invalid,
      uncompared: losses.uncompared,
      reason: fault ?? reasonOf(kind, losses, verdict),
    }
  })
}

/** One unit about which nothing is known. */
function noLosses(losses: Compared): Compared {
  return { ...losses, best: [losses.low], worst: [losses.high] }
}

function faultOf({ kind }: GateKind, losses: Compared, cases: number, hasBaseline: boolean): string | undefined {
  const { invalid, uncompared } = losses
  if (kind !== 'min' && !hasBaseline)
    return `A gate with ${kind} needs a baseline. Store a report with writeReport(), and pass it as "baseline".`
  if (uncompared.length > maxInvalid * cases)
    return `${uncompared.length} of ${cases} cases are not in the baseline, or have another input there. Store a new baseline.`
  if (invalid > maxInvalid) return `${percent(invalid)} of the trials are invalid. The maximum is 10 %.`
  return undefined
}

function reasonOf(kind: GateKind, { best, invalid }: Compared, verdict: Verdict): string {
  const lost = invalid === 0 ? '' : ` ${percent(invalid)} of the trials are invalid and widen the interval.`
  if (verdict !== 'undecided') return `${says[verdict as 'pass' | 'fail']}${lost}`
  const margin = { min: 1 - kind.value, maxDrop: kind.value, maxRatio: kind.value - 1 }[kind.kind]
  if (margin > smallestLimit(best.length))
    return `The true value may be on either side of the limit. Add cases, or allow more.${lost}`
  const needed = casesNeeded(margin)
  const hint = Number.isFinite(needed) ? `It needs at least ${needed} cases.` : 'Allow more than no change.'
  return `With ${best.length} cases, this gate cannot pass, even if all of them succeed. ${hint}${lost}`
}

const says = {
  pass: 'The true value is within the limit.',
  fail: 'The true value is beyond the limit.',
}

function intervalOf(kind: GateKind, { lower, upper }: Decision): [number, number] {
  const [a, b] = [shown(kind, lower), shown(kind, upper)]
  return a <= b ? [a, b] : [b, a]
}

/** Turns a loss into the number that the gate is about. */
function shown({ kind }: GateKind, loss: number): number {
  return { min: 1 - loss, maxDrop: loss, maxRatio: 2 * loss }[kind]
}

function percent(share: number): string {
  return `${Math.round(share * 1000) / 10} %`
}
