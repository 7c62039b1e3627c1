import type { Message, Usage } from '@allium/core'
import type { NamedCase } from '../cases/case.ts'
import type { TrialReport } from '../report/report.ts'
import type { TrialAnswers } from './answers.ts'

/** One run of a case, for a scorer. */
export interface EvalRun<E = unknown> extends Omit<TrialReport, 'scores'> {
  readonly case: NamedCase<E>
  /** The expected answer of the case. */
  readonly expected: E | undefined
  /** Counts the trials of the case from 0. */
  readonly trial: number
  /** The answer: its text, or the parsed value if the option `output` is set; null if there is none. */
  readonly output: unknown
  /** What the turn added to the history. */
  readonly messages: readonly Message[]
  /** The recorded answers of the trial. A scorer passes `answers.runOptions()` to runs of its own. */
  readonly answers?: TrialAnswers | undefined
  /** The same trial of the baseline. */
  readonly baseline: Pick<TrialReport, 'text' | 'status'> | undefined
  /** Aborts when `evaluate()` is aborted. */
  readonly signal: AbortSignal
}

/** A score from 0 (wrong) to 1 (right), a measured value, or both. */
export interface Score {
  score?: number
  /** A cost, a duration or a count, from 0 on. For gates with `maxRatio`. */
  value?: number
  /** Why, in a sentence. */
  reason?: string
  /** What the scorer's own model calls used. */
  usage?: Usage
}

/**
 * Scores a run: from 0 to 1, or `true` and `false`. An error, or any other number, makes the trial invalid: it is no score of 0.
 */
export type Scorer<E = unknown> = (run: EvalRun<E>) => number | boolean | Score | Promise<number | boolean | Score>
