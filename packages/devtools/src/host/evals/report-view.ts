import type { CaseReport, EvalReport } from '@allium/evals'
import type { CaseRow, EvalListItem, EvalReportView, GateView, MeanView } from '../../eval-views.ts'
import { entriesOf, fieldsOf, listOf, numberOf, oneOf, textOf, textsOf } from './fields.ts'

const verdicts = ['pass', 'fail', 'undecided', 'invalid'] as const
const gateKinds = ['min', 'maxDrop', 'maxRatio'] as const
const maxScorers = 30

/** A baseline that could be read, or why it could not. */
export interface Baseline {
  /** The path in the project. */
  readonly file: string
  readonly report?: EvalReport | undefined
  readonly fault?: string | undefined
}

/** Returns a report for the page: its gates, and one row per case beside the baseline. */
export function reportView(item: EvalListItem, report: EvalReport, baseline: Baseline | undefined): EvalReportView {
  const agent = fieldsOf(report.agent)
  const gates = listOf(report.gates, 50).flatMap(gateView)
  const scorers = scorersOf(report.cases)
  const before = new Map(baseline?.report?.cases.map((one) => [one.id, one]))
  return {
    ...item,
    agent: textOf(agent.name, 200) ?? '',
    version: textOf(agent.version, 200),
    trials: numberOf(report.trials) ?? 1,
    verdict: oneOf(report.verdict, verdicts),
    gates,
    scorers,
    cases: report.cases.map((one) => caseRow(one, { scorers, gates, before: baseline?.report && before })),
    baseline: baseline?.file,
    baselineFault: textOf(baseline?.fault, 1000),
  }
}

function gateView(gate: Readonly<Record<string, unknown>>): GateView[] {
  const condition = fieldsOf(gate.gate)
  const kind = gateKinds.find((name) => numberOf(condition[name]) !== undefined)
  const verdict = oneOf(gate.verdict, verdicts)
  if (kind === undefined || verdict === undefined) return []
  const interval = Array.isArray(gate.interval) ? gate.interval.map(numberOf) : []
  const [low, high] = interval
  return [
    {
      scorer: textOf(gate.scorer, 200) ?? '',
      kind,
      limit: numberOf(condition[kind]) ?? 0,
      verdict,
      estimate: numberOf(gate.estimate),
      interval: low === undefined || high === undefined ? undefined : [low, high],
      units: numberOf(gate.units) ?? 0,
      reason: textOf(gate.reason, 1000) ?? '',
    },
  ]
}

/** The scorers of all trials, because a scorer may be missing in the summary of a file. */
function scorersOf(cases: readonly CaseReport[]): string[] {
  const names = new Set<string>()
  for (const { trials } of cases)
    for (const { scores } of trials) for (const [name] of entriesOf(scores, maxScorers)) names.add(name)
  return [...names].slice(0, maxScorers)
}

interface RowOptions {
  readonly scorers: readonly string[]
  readonly gates: readonly GateView[]
  /** Undefined without a baseline. */
  readonly before: ReadonlyMap<string, CaseReport> | undefined
}

function caseRow(one: CaseReport, { scorers, gates, before }: RowOptions): CaseRow {
  const other = before?.get(one.id)
  const isEdited = other !== undefined && other.digest !== one.digest
  const compared = isEdited ? undefined : other
  const means = scorers.map((scorer): MeanView => {
    return { mean: meanOf(one, scorer), before: compared && meanOf(compared, scorer) }
  })
  const scored = (scorer: string) => means[scorers.indexOf(scorer)] ?? {}
  const changed = compared !== undefined && means.some((found) => found.mean !== found.before)
  const lost = one.trials.filter(({ status }) => status === 'lost')
  return {
    id: one.id.slice(0, 200),
    tags: textsOf(one.tags),
    means,
    isFailing:
      lost.length > 0 ||
      (gates.length === 0
        ? means.some(({ mean = 1 }) => mean < 1)
        : gates.some((gate) => isBelow(gate, scored(gate.scorer)))),
    change:
      before === undefined
        ? undefined
        : other === undefined
          ? 'new'
          : isEdited
            ? 'edited'
            : changed
              ? 'scores'
              : undefined,
    invalid: one.trials.filter(({ status, scores }) => status === 'lost' || hasInvalid(scores)).length,
  }
}

/** Whether the mean of a case is worse than its gate demands of the mean of all cases. Without a baseline, a full score is expected. */
function isBelow({ kind, limit }: GateView, { mean, before }: MeanView): boolean {
  if (mean === undefined) return false
  if (kind === 'min') return mean < limit
  if (kind === 'maxDrop') return mean < (before ?? 1)
  return before !== undefined && mean > before * limit
}

/** Returns the mean of the valid trials: of the score, or else of the measured value. */
function meanOf({ trials }: CaseReport, scorer: string): number | undefined {
  for (const field of ['score', 'value']) {
    const found = trials.flatMap(({ scores }) => numberOf(fieldsOf(fieldsOf(scores)[scorer])[field]) ?? [])
    if (found.length > 0) return found.reduce((sum, value) => sum + value, 0) / found.length
  }
  return undefined
}

function hasInvalid(scores: unknown): boolean {
  return entriesOf(scores).some(([, { invalid }]) => invalid !== undefined)
}
