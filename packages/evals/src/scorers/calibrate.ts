import { AlliumError, noUsage } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import { type EvalCase, nameCases } from '../cases/case.ts'
import type { Calibration } from '../report/calibration.ts'
import type { Answers } from '../run/answers.ts'
import { inPool } from '../run/pool.ts'
import type { EvalRun, Scorer } from '../run/run.ts'
import { gaffke } from '../statistics/gaffke.ts'
import { scoreRun } from './score-run.ts'

/** An answer that a person has judged. */
export interface LabelledAnswer<E = unknown> extends Pick<EvalCase<E>, 'id' | 'input' | 'expected'> {
  text: string
  /** Whether the person accepted the answer. */
  good: boolean
}

export interface CalibrateOptions<E> {
  scorer: Scorer<E>
  labels: readonly LabelledAnswer<E>[]
  /** The score from which on the scorer accepts an answer. @default 0.5 */
  threshold?: number | undefined
  /** @default 4 */
  concurrency?: number | undefined
  /** Recorded answers of the judge's model, from `openAnswers()`. A label whose answer is missing is invalid. @default the model is called */
  answers?: Answers | undefined
  signal?: AbortSignal | undefined
}

const known: KeysOf<CalibrateOptions<unknown>> = {
  scorer: true,
  labels: true,
  threshold: true,
  concurrency: true,
  answers: true,
  signal: true,
}

/**
 * Compares a scorer, usually a judge, with the labels of people. Pass the result to `evaluate({ calibration })`, so that the report
 * shows it beside the scores. A judge that is wrong in one of ten answers shrinks a drop of ten points to eight.
 *
 * @throws AlliumError `options.invalid`; the reason of `signal`
 */
export async function calibrate<E = unknown>(options: CalibrateOptions<E>): Promise<Calibration> {
  checkOptions(options, known, 'calibrate()', 'options.invalid')
  const { scorer, labels, threshold = 0.5, concurrency = 4, answers, signal = new AbortController().signal } = options
  if (typeof scorer !== 'function' || !Array.isArray(labels) || labels.length === 0)
    throw new AlliumError('options.invalid', 'calibrate() needs a scorer and labels: a list of { input, text, good }.')
  const cases = nameCases(labels.map(({ id, input, expected }) => ({ id, input, expected })))
  const scores = await inPool(labels, concurrency, async (label) => {
    const one = cases[labels.indexOf(label)] as (typeof cases)[number]
    const run: EvalRun<E> = {
      ...emptyRun(signal),
      case: one,
      expected: label.expected,
      text: label.text,
      output: label.text,
      answers: answers?.trial(`label ${one.id}`, 0),
    }
    const { it } = await scoreRun(run, [['it', scorer]], noUsage())
    return it === undefined || 'invalid' in it ? undefined : it.score
  })
  const verdicts = labels.map(({ good }, index) => {
    const score = scores[index]
    return { id: cases[index]?.id ?? '', good, accepts: score === undefined ? undefined : score >= threshold }
  })
  return calibrationOf(verdicts)
}

interface LabelledVerdict {
  readonly id: string
  readonly good: boolean
  /** Undefined for an invalid score. */
  readonly accepts: boolean | undefined
}

function calibrationOf(verdicts: readonly LabelledVerdict[]): Calibration {
  const agrees = verdicts.map(({ good, accepts }) => (good === accepts ? 1 : 0))
  const { lower, upper } = gaffke()(agrees)
  const valid = verdicts.filter(({ accepts }) => accepts !== undefined)
  const kappa = kappaOf(valid)
  const ids = (wanted: (one: LabelledVerdict) => boolean) => verdicts.filter(wanted).map(({ id }) => id)
  return {
    agreement: shareOf(agrees, (one) => one === 1),
    interval: [lower(0.05), upper(0.05)],
    ...(kappa !== undefined && { kappa }),
    labels: verdicts.length,
    acceptedWrongly: ids(({ good, accepts }) => accepts === true && !good),
    rejectedWrongly: ids(({ good, accepts }) => accepts === false && good),
    invalid: ids(({ accepts }) => accepts === undefined),
  }
}

function kappaOf(verdicts: readonly LabelledVerdict[]): number | undefined {
  const observed = shareOf(verdicts, ({ good, accepts }) => good === accepts)
  const labelledGood = shareOf(verdicts, (one) => one.good)
  const accepted = shareOf(verdicts, ({ accepts }) => accepts === true)
  const byChance = labelledGood * accepted + (1 - labelledGood) * (1 - accepted)
  return byChance < 1 ? (observed - byChance) / (1 - byChance) : undefined
}

function shareOf<T>(list: readonly T[], holds: (one: T) => boolean): number {
  return list.filter(holds).length / list.length
}

function emptyRun(signal: AbortSignal) {
  return {
    status: 'completed' as const,
    trial: 0,
    messages: [],
    calls: [],
    decisions: [],
    usage: noUsage(),
    steps: 0,
    duration: 0,
    baseline: undefined,
    signal,
  }
}
