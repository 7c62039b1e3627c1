import type { Message, StoredTurn, ToolDef } from '@allium/core'

/** A recorded turn: everything that a replay needs, as plain JSON data. */
export interface RecordedTurn {
  readonly format: 1
  /** The agent that ran it, and its `version`. */
  readonly agent: string
  readonly version?: string | undefined
  readonly startedAt: number
  readonly endedAt: number
  readonly task: RecordedTask
  readonly principal?: unknown
  readonly context?: unknown
  /** The session before the turn, by reference: its stored version and the length of its history then. */
  readonly before: {
    readonly version?: number | undefined
    readonly messages: number
    readonly turnCount?: number | undefined
    readonly runCount?: number | undefined
  }
  /** Each model call as it was sent, in the order of the calls, those of sub-agents included. */
  readonly requests: readonly RecordedRequest[]
  readonly steps: readonly RecordedStep[]
  /** The layers that decided something, in order. Layers that passed a call on are not listed. */
  readonly decisions: readonly RecordedDecision[]
  readonly result: Pick<StoredTurn, 'status' | 'reason' | 'code' | 'answer' | 'finishReason' | 'usage' | 'calls'>
  /** Whether `scrub` changed a text. */
  readonly scrubbed?: boolean | undefined
  /** Why the turn cannot be replayed exactly; absent if it can. */
  readonly notReplayable?: readonly string[] | undefined
}

/** What was requested, before any layer changed it. */
export interface RecordedTask {
  readonly input?: unknown
  /** For a run that resumed. */
  readonly decisions?: unknown
  readonly options: {
    readonly model?: string | undefined
    readonly settings?: unknown
    readonly maxSteps?: number | undefined
    readonly onRetryAfterOutput?: string | undefined
    readonly clientTools?: readonly ToolDef[] | undefined
    /** The schema of `output`, as JSON Schema. */
    readonly output?: unknown
    /** The names of the layers in `use`. */
    readonly use?: readonly string[] | undefined
  }
}

/** Messages of the history before the turn, of the request before, or the messages themselves. */
export type RecordedMessages =
  | { readonly of: 'history' | 'before'; readonly from: number; readonly count: number }
  | { readonly messages: readonly Message[] }

/** A request as sent. Fields that are the same as in the request before are absent. */
export interface RecordedRequest {
  readonly turnId: string
  readonly call: number
  readonly attempt: number
  readonly model: string
  readonly messages: readonly RecordedMessages[]
  readonly tools?: readonly ToolDef[] | undefined
  readonly settings?: unknown
  readonly toolChoice?: unknown
  readonly responseFormat?: unknown
}

/** A step that ran: a provider call, a tool call, or a result of `ctx.once()`. */
export interface RecordedStep {
  /** As the journal names it, such as `<turnId>:model:0:1`. */
  readonly id: string
  /** When it ended, in milliseconds since the start of the turn. */
  readonly at: number
  /** The chunks of a model call. */
  readonly items?: readonly unknown[] | undefined
  readonly result?: unknown
  readonly error?: {
    readonly name: string
    readonly message: string
    readonly code?: unknown
    readonly status?: unknown
  }
}

/** What a layer decided about a turn, a model call or a tool call. */
export interface RecordedDecision {
  readonly turnId: string
  /** Undefined for the core. */
  readonly layer?: string | undefined
  readonly scope: 'turn' | 'model' | 'tool'
  /** The id of the tool call, or the index of the model call. */
  readonly call?: string | number | undefined
  readonly decision: 'denied' | 'suspended' | 'failed' | 'skipped' | 'retried' | 'recovered'
  readonly reason?: string | undefined
}
