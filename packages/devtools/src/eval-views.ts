/** The reports of evals as the page shows them. The host creates them from files, so each text and list is bounded. */

/** A report of the project. */
export interface EvalListItem {
  /** The name of its file, without `.json`. */
  readonly name: string
  /** When it was written, in milliseconds since the epoch. */
  readonly at: number
}

/** A gate of a report. */
export interface GateView {
  readonly scorer: string
  /** Such as `min 0.9`. */
  readonly kind: 'min' | 'maxDrop' | 'maxRatio'
  readonly limit: number
  readonly verdict: VerdictView
  readonly estimate?: number | undefined
  readonly interval?: readonly [low: number, high: number] | undefined
  readonly units: number
  readonly reason: string
}

type VerdictView = 'pass' | 'fail' | 'undecided' | 'invalid'

/** The mean of a scorer: its score, or else the value that it measured. Undefined without a valid trial. */
export interface MeanView {
  readonly mean?: number | undefined
  /** The mean of the baseline. */
  readonly before?: number | undefined
}

/** A case in the table of a report. */
export interface CaseRow {
  readonly id: string
  readonly tags: readonly string[]
  /** In the order of the report's scorers. */
  readonly means: readonly MeanView[]
  /** It lost a run, or one of its scores is worse than its gate or its baseline. */
  readonly isFailing: boolean
  /** How it differs from the baseline; undefined if it does not, or without a baseline. */
  readonly change?: 'scores' | 'new' | 'edited' | undefined
  /** Trials with an invalid score, or without an answer. */
  readonly invalid: number
}

export interface EvalReportView extends EvalListItem {
  readonly agent: string
  readonly version?: string | undefined
  /** Trials per case. */
  readonly trials: number
  readonly verdict?: VerdictView | undefined
  readonly gates: readonly GateView[]
  readonly scorers: readonly string[]
  readonly cases: readonly CaseRow[]
  /** The file of the baseline; undefined if there is none. */
  readonly baseline?: string | undefined
  /** Why the baseline is not shown. */
  readonly baselineFault?: string | undefined
}

export interface TrialScore {
  readonly scorer: string
  readonly score?: number | undefined
  readonly value?: number | undefined
  readonly reason?: string | undefined
  /** Why there is no score. */
  readonly invalid?: string | undefined
}

/** One run of a case. */
export interface TrialView {
  readonly status: string
  readonly reason?: string | undefined
  readonly text: string
  readonly calls: readonly { name: string; args: string; status: string; content: string }[]
  readonly decisions: readonly { layer: string; decision: string; tool?: string; reason?: string }[]
  /** Milliseconds. */
  readonly duration: number
  readonly steps: number
  readonly scores: readonly TrialScore[]
}

/** A case with its runs, and those of the baseline. */
export interface CaseView {
  readonly id: string
  readonly group?: string | undefined
  readonly trials: readonly TrialView[]
  readonly before: readonly TrialView[]
  /** The baseline has this id with another input or expected answer. */
  readonly isEdited: boolean
}
