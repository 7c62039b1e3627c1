import type { RunStatus } from '@allium/core'

/** The layers of one turn: who was entered, for how long, and what each decided. */
export interface OnionTurn {
  turnId: string
  sessionId: string
  turnIndex: number
  /** `running` until the outermost layer has returned. */
  status: RunStatus | 'running'
  /** Why it was stopped, blocked or aborted, or the message of its failure. */
  reason?: string
  duration: number
  /** The outermost layer of the turn, with all the others inside. */
  root: OnionSpan
}

/**
 * What a layer did with a call. `passed`: let it through, both ways. `skipped`: answered in its place. `retried`: ran
 * the inside more than once. `recovered`: gave an answer where the inside failed. `left`: was left behind by a layer
 * outside. `suspended`: the call waits for a human. An error that a layer merely lets through is no decision of its own.
 */
export type Decision =
  | 'passed'
  | 'changed'
  | 'skipped'
  | 'retried'
  | 'recovered'
  | 'denied'
  | 'suspended'
  | 'blocked'
  | 'aborted'
  | 'failed'
  | 'left'
  | 'running'

export type TracedScope = 'turn' | 'model' | 'tool'

/** One passage of a call through one layer. Times are milliseconds from the start of the turn. */
export interface OnionSpan {
  /** The layer's name; for the core the loop, the model or the tool that it ran. */
  layer: string
  scope: TracedScope
  /** On the outermost span of a model or tool call: the model or the tool that was asked for. */
  subject?: string
  /** Whether this is what the innermost next() runs, and no layer. */
  core: boolean
  start: number
  duration: number
  /** The part of the duration that it did not spend inside next(). */
  self: number
  decision: Decision
  /** How often it called next(). */
  entered: number
  /** Why: the reason of a denial or a block, the message of an error. */
  detail?: string
  children: OnionSpan[]
}
