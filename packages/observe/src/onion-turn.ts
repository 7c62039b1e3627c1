import type { RunStatus } from '@allium/core'

/** The layers of one turn: who was entered, for how long, and what each decided. */
export interface OnionTurn {
  turnId: string
  /** The agent that ran it. */
  agent: string
  /** The turn that it belongs to, where that is another: the first run of one that was resumed, or that of the agent whose tool ran this one. */
  rootTurnId?: string
  /** Whether it went on from a turn that waited. */
  resumed?: boolean
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
 * What a layer did with a call. `passed`: let it through, both ways. `changed`: changed what it asks for, or what it gave. `skipped`: answered in its place. `retried`: ran
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
  /** What it changed, of what the call asked for and of what it gave. */
  changed?: OnionChange[]
  children: OnionSpan[]
}

/** A field that a layer changed. The note tells how much: numbers of messages or tools, models, names of settings; never what is said. */
export interface OnionChange {
  field:
    | 'input'
    | 'maxSteps'
    | 'model'
    | 'messages'
    | 'tools'
    | 'settings'
    | 'toolChoice'
    | 'responseFormat'
    | 'args'
    | 'text'
    | 'toolCalls'
    | 'result'
    | 'output'
  note?: string
}
