import { AlliumError, addUsage, type Clock, digestOf, noUsage, systemClock, type Usage } from '@allium/core'
import { checkOptions, describe, type KeysOf } from '@allium/core/internal'
import { type EvalCase, type NamedCase, nameCases } from '../cases/case.ts'
import { type Gate, gateList } from '../gates/gate.ts'
import { judgeGates } from '../gates/judge-gates.ts'
import type { Calibration } from '../report/calibration.ts'
import type { CaseReport, EvalReport, TrialReport } from '../report/report.ts'
import { checkReport } from '../report/report-file.ts'
import { scrubbed } from '../report/scrub.ts'
import { summaryOf } from '../report/summary.ts'
import { scoreRun } from '../scorers/score-run.ts'
import { worstOf } from '../statistics/verdicts.ts'
import type { EvalAgent, EvalRunOptions } from './agent.ts'
import { inPool } from './pool.ts'
import type { EvalRun, Scorer } from './run.ts'
import { runTrial, type TrialSetup } from './run-trial.ts'

export interface EvaluateOptions<E, Name extends string> extends EvalRunOptions {
  /** The agent, with its layers. Each trial runs in a new session. */
  agent: EvalAgent
  cases: readonly EvalCase<E>[]
  /** Score each run, by name. */
  scorers: { readonly [K in Name]: Scorer<E> }
  /** Runs of each case. Trials of a case are no independent samples, so more cases help more. @default 3 */
  trials?: number | undefined
  /** An earlier report of the same cases, from `evaluate()` or `readReport()`. @default none */
  baseline?: EvalReport | undefined
  /** Conditions on the scores, by scorer. @default none */
  gates?: { readonly [K in NoInfer<Name>]?: Gate | readonly Gate[] } | undefined
  /** Trials that run at the same time. @default 4 */
  concurrency?: number | undefined
  /** Results of `calibrate()` by scorer, which the report shows beside the scores. @default none */
  calibration?: { readonly [K in NoInfer<Name>]?: Calibration } | undefined
  /** Milliseconds after which a run is aborted and its trial is invalid. @default 300,000 */
  timeout?: number | undefined
  /** Limits of the whole evaluation, scorers included. Trials that would begin beyond one are invalid. @default none */
  budget?: { readonly calls?: number | undefined; readonly tokens?: number | undefined } | undefined
  /** Replaces each text of a report before it is returned. Scorers get the texts as they are. @default texts as they are */
  scrub?: ((text: string) => string) | undefined
  /** Aborts the evaluation. It then rejects with the reason. */
  signal?: AbortSignal | undefined
  /** Called after each trial. */
  onProgress?(progress: EvalProgress): void
  /** For durations and timeouts. @default the system clock */
  clock?: Clock | undefined
}

export interface EvalProgress {
  readonly done: number
  readonly total: number
  readonly case: string
  readonly trial: number
  readonly status: TrialReport['status']
}

const known: KeysOf<EvaluateOptions<unknown, string>> = {
  agent: true,
  cases: true,
  scorers: true,
  trials: true,
  baseline: true,
  gates: true,
  concurrency: true,
  calibration: true,
  model: true,
  settings: true,
  maxSteps: true,
  output: true,
  timeout: true,
  budget: true,
  scrub: true,
  signal: true,
  onProgress: true,
  clock: true,
}

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
  const { agent, baseline, trials, gates, scorers, cases, concurrency, calibration, setup } = check(options)
  const before = new Map(baseline?.cases.map((one) => [one.id, one]))
  const jobs = cases.flatMap((one) => Array.from({ length: trials }, (_, trial) => ({ one, trial })))
  const [usage, scorerUsage] = [noUsage(), noUsage()]
  let done = 0
  const results = await inPool(jobs, concurrency, async ({ one, trial }) => {
    setup.signal.throwIfAborted()
    const earlier = before.get(one.id)?.trials
    const run = isUsedUp(options.budget, usage, scorerUsage)
      ? lostRun(setup.signal, one, trial)
      : await runTrial(setup, one, trial, earlier?.[trial % earlier.length])
    addUsage(usage, run.usage)
    const report = scrubbed(trialReport(run, await scoreRun(run, scorers, scorerUsage)), options.scrub)
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

function check<E, Name extends string>(options: EvaluateOptions<E, Name>) {
  checkOptions(options, known, 'evaluate()', 'options.invalid')
  checkOptions(options.budget, { calls: true, tokens: true }, 'The budget of evaluate()', 'options.invalid')
  const { agent, scorers, trials = 3, baseline, gates = {}, concurrency = 4, timeout = 300_000 } = options
  if (typeof agent?.run !== 'function') throw invalid('evaluate() needs the option agent: an Agent.')
  if (options.scrub !== undefined && typeof options.scrub !== 'function')
    throw invalid(`The option scrub of evaluate() takes a function, not ${describe(options.scrub)}.`)
  const named = Object.entries<Scorer<E>>(scorers ?? {})
  if (named.length === 0)
    throw invalid('evaluate() needs scorers, such as { right: (run) => run.text.includes("42") }.')
  for (const [name, scorer] of named)
    if (typeof scorer !== 'function') throw invalid(`The scorer "${name}" of evaluate() is no function.`)
  for (const [name, value] of Object.entries({ trials, concurrency }))
    if (!Number.isInteger(value) || value < 1 || value > 1000)
      throw invalid(`The option ${name} of evaluate() takes a whole number from 1 to 1,000, not ${value}.`)
  if (!(timeout > 0)) throw invalid(`The option timeout of evaluate() takes milliseconds above 0, not ${timeout}.`)
  const calibration: Readonly<Record<string, Calibration | undefined>> = options.calibration ?? {}
  const unknown = Object.keys(calibration).find((name) => !named.some(([scorer]) => scorer === name))
  if (unknown !== undefined) throw invalid(`There is a calibration of "${unknown}", but no such scorer.`)
  if (baseline !== undefined) checkReport(baseline, 'The baseline')
  const { clock = systemClock, signal = new AbortController().signal } = options
  const { model, settings, maxSteps, output } = options
  const runOptions = { model, settings, maxSteps, output }
  const setup: TrialSetup = { agent, runOptions, timeout, clock, signal }
  const list = gateList(
    gates,
    named.map(([name]) => name),
  )
  return {
    agent,
    cases: nameCases(options.cases),
    scorers: named,
    trials,
    baseline,
    gates: list,
    concurrency,
    calibration,
    setup,
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

function invalid(message: string): AlliumError {
  return new AlliumError('options.invalid', message)
}
