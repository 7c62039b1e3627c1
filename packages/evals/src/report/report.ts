import type { RunResult, ToolStatus, Usage } from '@allium/core'
import type { GateReport } from '../gates/gate.ts'
import type { Verdict } from '../statistics/verdicts.ts'
import type { Calibration } from './calibration.ts'

/** The result of `evaluate()`: plain JSON data, for reporters, files and a later baseline. */
export interface EvalReport {
  /** The version of this format. */
  readonly version: 1
  readonly agent: { readonly name: string; readonly version?: string }
  /** Trials per case. */
  readonly trials: number
  /** The worst verdict of the gates: `fail`, then `invalid`, `undecided`, `pass`. Absent without gates. */
  readonly verdict?: Verdict
  readonly gates: readonly GateReport[]
  /** The mean of each scorer, by its name. */
  readonly scorers: Readonly<Record<string, ScorerSummary>>
  /** In the order given to `evaluate()`. */
  readonly cases: readonly CaseReport[]
  /** Tokens and provider calls of the agent. */
  readonly usage: Usage
  /** Tokens and provider calls of judges. */
  readonly scorerUsage: Usage
}

export interface ScorerSummary {
  /** The mean score over the cases, of valid trials. Absent if there is none. */
  readonly score?: number
  /** The mean measured value, such as a cost. */
  readonly value?: number
  readonly invalid: number
  readonly trials: number
  /** How well it agrees with people, if `evaluate()` was told. */
  readonly calibration?: Calibration
}

export interface CaseReport {
  readonly id: string
  /** A hash of input and expected answer. A baseline with another one is not compared. */
  readonly digest: string
  readonly tags?: readonly string[]
  readonly group?: string
  readonly trials: readonly TrialReport[]
}

/** One run of a case. */
export interface TrialReport {
  /** The status of the run. `failed` is an answer that does not fit the schema of the run. `lost` means that there is no answer to score. */
  readonly status: RunResult['status'] | 'failed' | 'lost'
  /** Why it was stopped, blocked, failed or lost. */
  readonly reason?: string
  readonly text: string
  readonly calls: readonly EvalCall[]
  readonly decisions: readonly EvalDecision[]
  readonly usage: Usage
  /** Answers of the model, including those that call tools. */
  readonly steps: number
  /** Milliseconds. */
  readonly duration: number
  readonly scores: Readonly<Record<string, ScoreReport>>
}

/** A scorer's result. A trial with `invalid` counts as the worst result where a gate might pass, and as the best where it might fail. */
export type ScoreReport =
  | { readonly score?: number; readonly value?: number; readonly reason?: string }
  | { readonly invalid: string }

/** A tool call, with its result as sent to the model. */
export interface EvalCall {
  readonly name: string
  /** As the model sent them. */
  readonly args: unknown
  readonly status: ToolStatus
  readonly content: string
}

/** A layer that did more than pass a call on. */
export interface EvalDecision {
  /** The layer's name; `core` for the agent itself, such as a tool with `requireApproval`. */
  readonly layer: string
  readonly scope: 'turn' | 'model' | 'tool'
  /**
   * `skipped` answered without the layers inside it, as a cache does. `recovered` replaced an error by an answer. The others are named
   * like their effect on the run or call.
   */
  readonly decision: 'denied' | 'suspended' | 'blocked' | 'skipped' | 'retried' | 'recovered'
  /** The tool, in tool scope. */
  readonly tool?: string
  readonly reason?: string
}
