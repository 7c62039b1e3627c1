import type { AnyMiddleware, Journal } from '@allium/core'

/** Recorded answers of models, as `evaluate()` uses them. `openAnswers()` returns them. */
export interface Answers {
  /** Begins a trial of a case. */
  trial(caseId: string, trial: number): TrialAnswers
}

/** The recorded answers of one trial. Its scorers share it. */
export interface TrialAnswers {
  /** Returns options for one run whose model calls are recorded, or answered from the recording. */
  runOptions(): AnswerOptions
  /** Describes each model call that had no recorded answer. */
  readonly missing: readonly string[]
}

/** Options for a run whose model calls are recorded, or answered from the recording. */
export interface AnswerOptions {
  readonly use: readonly AnyMiddleware[]
  /** Set while answers are recorded. It replaces the agent's own. */
  readonly journal?: Journal
}
