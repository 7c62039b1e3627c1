import type { RunStatus, TurnView } from '@allium/core'

/** The layers of one turn: which were entered, for how long, and what each decided. */
export interface OnionTurn {
  turnId: string
  /** The agent that ran it. */
  agent: string
  /**
   * The turn that it belongs to, if that is another one: the first run of a resumed turn, or the turn of the agent whose tool ran this one.
   */
  rootTurnId?: string
  /** Whether it resumed a suspended turn. */
  resumed?: boolean
  sessionId: string
  turnIndex: number
  /** `running` until the outermost layer has returned. */
  status: RunStatus | 'running'
  /** Why it was stopped, blocked or aborted, or the message of its error. */
  reason?: string
  duration: number
  /** The outermost layer of the turn, which contains all others. */
  root: OnionSpan
}

/**
 * What a layer did with a call. `passed`: passed it on unchanged. `changed`: changed its input or its result. `skipped`: answered instead.
 * `retried`: called next() more than once. `recovered`: answered after next() failed. `left`: was abandoned by an outer layer.
 * `suspended`: the call waits for a human. Rethrowing an error is not a decision.
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

/** One pass of a call through one layer. Times are milliseconds from the start of the turn. */
export interface OnionSpan {
  /** The layer's name; for the core, the loop, the model or the tool. */
  layer: string
  scope: TracedScope
  /** On the outermost span of a model or tool call: the requested model or tool. */
  subject?: string
  /** Whether this is the core, which the innermost next() runs, and not a layer. */
  core: boolean
  start: number
  duration: number
  /** The part of the duration outside of next(). */
  self: number
  decision: Decision
  /** How often it called next(). */
  entered: number
  /** The reason of a denial or a block, or the message of an error. */
  detail?: string
  /** What it changed in the call's input and result. */
  changed?: OnionChange[]
  children: OnionSpan[]
}

/** A field that a layer changed. The note has numbers of messages or tools, models, or names of settings, but no content. */
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

/** A moment of a span, for a program that follows a turn while it runs. */
export interface SpanEvent {
  /** It began, called next(), next() returned or threw, or it ended. */
  phase: 'open' | 'next' | 'returned' | 'close'
  turn: Pick<OnionTurn, 'turnId' | 'sessionId' | 'turnIndex' | 'agent' | 'rootTurnId'> & { resumed: boolean }
  /** The id of the span around it; undefined for the outermost one. */
  parent: number | undefined
  /** The span so far. Ids are unique in the layer. */
  span: RecordedSpan
  /** After next(): the span inside, whose decision may have changed because of this one. */
  inner: RecordedSpan | undefined
  /** The context of the layer. Use it only during the call. */
  ctx: TurnView
  /** The result of next(), or of the span at its end. */
  value: unknown
}

export type RecordedSpan = Omit<OnionSpan, 'children'> & { id: number }
