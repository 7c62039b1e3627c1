import type { RunEnd, Usage } from '@allium/core'

export interface EndedRun {
  readonly usage: Usage
  /** Milliseconds since the run started. */
  readonly duration: number
}

/** The result of the run. */
export interface FinishInfo extends EndedRun {
  readonly status: Exclude<RunEnd['status'], 'aborted' | 'failed'>
  /** Why it was stopped or blocked. */
  readonly reason: string | undefined
  /** The answer. */
  readonly text: string
}
export interface AbortInfo extends EndedRun {
  /** The argument of `abort(reason)`. */
  readonly reason: unknown
}
export interface ErrorInfo extends EndedRun {
  readonly error: unknown
}
