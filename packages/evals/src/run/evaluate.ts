import { addUsage, digestOf, noUsage, type Usage } from '@allium/core'
import type { NamedCase } from '../cases/case.ts'
import { judgeGates } from '../gates/judge-gates.ts'
import type { CaseReport, EvalReport, TrialReport } from '../report/report.ts'
import { scrubbed } from '../report/scrub.ts'
import { summaryOf } from '../report/summary.ts'
import { scoreRun } from '../scorers/score-run.ts'
import { worstOf } from '../statistics/verdicts.ts'
import { checkedOptions, type EvaluateOptions } from './options.ts'
import { inPool } from './pool.ts'
import type { EvalRun } from './run.ts'
import { runTrial } from './run-trial.ts'

/**
 * Runs an agent on cases, scores the answers, and decides gates with statistics that account for the number of cases.
 *
 * @throws AlliumError `options.invalid`; the reason of `signal`
 * @example
 * const report = await evaluate({ agent, cases, scorers: { right: (run) => run.text.includes('42') }, gates: { right: { min: 0.9 } } })
 * process.exitCode = report.verdict === 'pass' ? 0 : 1
 */
export async function evaluate<Name extends string, E = unknown>(
  options: EvaluateOptions<E, Name>,
): Promise<EvalReport> {
  const { agent, baseline, trials, gates, scorers, cases, concurrency, calibration, setup } = checkedOptions(options)
  const before = new Map(baseline?.cases.map((one) => [one.id, one]))
  const jobs = cases.flatMap((one) => Array.from({ length: trials }, (_, trial) => ({ one, trial })))
  const { cleaner } = await import('@allium/shared/recording')
  const clean = cleaner(options.scrub)
  const [usage, scorerUsage] = [noUsage(), noUsage()]
  let done = 0
  const results = await inPool(jobs, concurrency, async ({ one, trial }) => {
    setup.signal.throwIfAborted()
    const earlier = before.get(one.id)?.trials
    const run = isUsedUp(options.budget, usage, scorerUsage)
      ? lostRun(setup.signal, one, trial)
      : await runTrial(setup, one, trial, earlier?.[trial % earlier.length])
    addUsage(usage, run.usage)
    const report = scrubbed(trialReport(run, await scoreRun(run, scorers, scorerUsage)), clean)
    options.onProgress?.({ done: ++done, total: jobs.length, case: one.id, trial, status: run.status })
    return report
  })
  const digests = await Promise.all(cases.map(({ input, expected }) => digestOf({ input, expected })))
  const reports = cases.map((one, index) =>
    caseReport(one, digests[index] as string, results.slice(index * trials, (index + 1) * trials)),
  )
  const judged = judgeGates(gates, reports, baseline?.cases)
  return {
    version: 1,
    agent: { name: agent.name, ...(agent.version !== undefined && { version: agent.version }) },
    trials,
    ...(judged.length > 0 && { verdict: worstOf(judged.map(({ verdict }) => verdict)) }),
    gates: judged,
    scorers: Object.fromEntries(scorers.map(([name]) => [name, summaryOf(name, reports, calibration[name])])),
    cases: reports,
    usage,
    scorerUsage,
  }
}

function isUsedUp(budget: EvaluateOptions<unknown, string>['budget'], ...used: Usage[]): boolean {
  const total = noUsage()
  for (const usage of used) addUsage(total, usage)
  const { calls = Number.POSITIVE_INFINITY, tokens = Number.POSITIVE_INFINITY } = budget ?? {}
  return total.calls >= calls || total.inputTokens + total.outputTokens >= tokens
}

/** A trial that did not run. */
function lostRun<E>(signal: AbortSignal, one: NamedCase<E>, trial: number): EvalRun<E> {
  const nothing = { text: '', output: null, messages: [], calls: [], decisions: [], steps: 0, duration: 0 }
  const reason = 'The budget of the evaluation is used up.'
  const usage = noUsage()
  return {
    ...nothing,
    status: 'lost',
    reason,
    case: one,
    expected: one.expected,
    trial,
    usage,
    baseline: undefined,
    signal,
  }
}

function trialReport(run: EvalRun, scores: TrialReport['scores']): TrialReport {
  const { status, reason, text, calls, decisions, usage, steps, duration } = run
  return { status, ...(reason !== undefined && { reason }), text, calls, decisions, usage, steps, duration, scores }
}

function caseReport({ id, tags, group }: NamedCase, digest: string, trials: readonly TrialReport[]): CaseReport {
  return { id, digest, ...(tags !== undefined && { tags }), ...(group !== undefined && { group }), trials }
}
