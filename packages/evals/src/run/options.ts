import { AlliumError, type Clock, systemClock } from '@allium/core'
import { checkOptions, describe, type KeysOf } from '@allium/core/internal'
import type { Scrub } from '@allium/shared/recording'
import { type EvalCase, nameCases } from '../cases/case.ts'
import { type Gate, gateList } from '../gates/gate.ts'
import type { Calibration } from '../report/calibration.ts'
import { checkReport } from '../report/check-report.ts'
import type { EvalReport, TrialReport } from '../report/report.ts'
import type { EvalAgent, EvalRunOptions } from './agent.ts'
import type { Answers } from './answers.ts'
import type { Scorer } from './run.ts'
import type { TrialSetup } from './run-trial.ts'

/** What is evaluated and how: all of `evaluate()` that does not depend on the place where it runs. */
export interface EvalDefinition<E, Name extends string> extends EvalRunOptions {
  /** The agent, with its layers. Each trial runs in a new session. */
  agent: EvalAgent
  cases: readonly EvalCase<E>[]
  /** Score each run, by name. */
  scorers: { readonly [K in Name]: Scorer<E> }
  /** Runs of each case. Trials of a case are no independent samples, so more cases help more. @default 3 */
  trials?: number | undefined
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
  /**
   * Texts to remove from the report, and by `allium eval` also from recorded answers, in addition to credentials: a function that maps each
   * text, or a list of texts and patterns. Scorers get the texts as they are. @default []
   */
  scrub?: Scrub | undefined
}

export interface EvaluateOptions<E, Name extends string> extends EvalDefinition<E, Name> {
  /** An earlier report of the same cases, from `evaluate()` or `readReport()`. @default none */
  baseline?: EvalReport | undefined
  /** Recorded answers of models, from `openAnswers()`. @default the models are called */
  answers?: Answers | undefined
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

/** Every option of `defineEval()`. */
export const definitionKeys: KeysOf<EvalDefinition<unknown, string>> = {
  agent: true,
  cases: true,
  scorers: true,
  trials: true,
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
}

const known: KeysOf<EvaluateOptions<unknown, string>> = {
  ...definitionKeys,
  baseline: true,
  answers: true,
  signal: true,
  onProgress: true,
  clock: true,
}

/** @throws AlliumError `options.invalid` */
export function checkedOptions<E, Name extends string>(options: EvaluateOptions<E, Name>) {
  checkOptions(options, known, 'evaluate()', 'options.invalid')
  checkOptions(options.budget, { calls: true, tokens: true }, 'The budget of evaluate()', 'options.invalid')
  const { agent, scorers, trials = 3, baseline, gates = {}, concurrency = 4, timeout = 300_000 } = options
  if (typeof agent?.run !== 'function') throw invalid('evaluate() needs the option agent: an Agent.')
  const { scrub = [] } = options
  if (typeof scrub !== 'function' && !Array.isArray(scrub))
    throw invalid(`The option scrub of evaluate() takes a function or a list, not ${describe(scrub)}.`)
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
  const { model, settings, maxSteps, output, answers } = options
  const runOptions = { model, settings, maxSteps, output }
  const setup: TrialSetup = { agent, runOptions, timeout, clock, signal, answers }
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

function invalid(message: string): AlliumError {
  return new AlliumError('options.invalid', message)
}
