import type { EvalReport } from '@allium/evals'
import type { CaseView, TrialScore, TrialView } from '../../eval-views.ts'
import { entriesOf, fieldsOf, jsonOf, listOf, numberOf, textOf } from './fields.ts'

const maxTrials = 100

/** Returns a case with its trials, beside those of the baseline; undefined if the report has no such case. */
export function caseView(report: EvalReport, id: string, baseline: EvalReport | undefined): CaseView | undefined {
  const byId = (one: EvalReport | undefined) => one?.cases.find((candidate) => candidate.id === id)
  const [found, before] = [byId(report), byId(baseline)]
  if (found === undefined) return undefined
  return {
    id: found.id.slice(0, 200),
    group: textOf(found.group, 200),
    trials: listOf(found.trials, maxTrials).map(trialView),
    before: listOf(before?.trials, maxTrials).map(trialView),
    isEdited: before !== undefined && before.digest !== found.digest,
  }
}

function trialView(trial: Readonly<Record<string, unknown>>): TrialView {
  return {
    status: textOf(trial.status, 50) ?? '',
    reason: textOf(trial.reason, 2000),
    text: textOf(trial.text) ?? '',
    calls: listOf(trial.calls).map(({ name, args, status, content }) => ({
      name: textOf(name, 200) ?? '',
      args: jsonOf(args, 2000),
      status: textOf(status, 50) ?? '',
      content: jsonOf(content, 2000),
    })),
    decisions: listOf(trial.decisions).map(({ layer, decision, tool, reason }) => ({
      layer: textOf(layer, 200) ?? '',
      decision: textOf(decision, 50) ?? '',
      ...(typeof tool === 'string' && { tool: tool.slice(0, 200) }),
      ...(typeof reason === 'string' && { reason: reason.slice(0, 1000) }),
    })),
    duration: numberOf(trial.duration) ?? 0,
    steps: numberOf(trial.steps) ?? 0,
    scores: entriesOf(trial.scores).map(([scorer, score]): TrialScore => scoreView(scorer, score)),
  }
}

function scoreView(scorer: string, given: Readonly<Record<string, unknown>>): TrialScore {
  const { score, value, reason, invalid } = fieldsOf(given)
  return {
    scorer,
    score: numberOf(score),
    value: numberOf(value),
    reason: textOf(reason, 2000),
    invalid: invalid === undefined ? undefined : jsonOf(invalid, 2000),
  }
}
