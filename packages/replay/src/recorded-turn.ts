import type { Message, Snapshot, StoredTurn, ToolDef } from '@allium/core'
import type { LedgerBalance } from '@allium/store'

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
  readonly before: RecordedSession
  /** The layers that the turn entered, those of sub-agents included, in the order in which they were entered first. */
  readonly layers: readonly RecordedLayer[]
  /** Each model call as it was sent, in the order of the calls, those of sub-agents included. */
  readonly requests: readonly RecordedRequest[]
  readonly steps: readonly RecordedStep[]
  readonly clock: RecordedClock
  /** Messages that arrived while the turn ran, as they were sent. Absent if there were none. */
  readonly steered?: readonly RecordedSteer[] | undefined
  /** The abort that came from outside the layers; absent if there was none. */
  readonly abort?: RecordedAbort | undefined
  /** What watched ledgers answered. Absent if none was asked. */
  readonly postings?: readonly RecordedPosting[] | undefined
  /** The layers that decided something, in order. Layers that passed a call on are not listed. */
  readonly decisions: readonly RecordedDecision[]
  readonly result: Pick<StoredTurn, 'status' | 'reason' | 'code' | 'answer' | 'finishReason' | 'usage' | 'calls'>
  /** Whether `scrub` changed a text. */
  readonly scrubbed?: boolean | undefined
  /** Why the turn cannot be replayed exactly; absent if it can. */
  readonly notReplayable?: readonly string[] | undefined
}

/** The session before the turn: a reference to the store if it is stored, otherwise itself. */
export interface RecordedSession {
  /** The version in the store. */
  readonly version?: number | undefined
  /** The length of its history. */
  readonly messages: number
  /** The session itself, if no store has it. */
  readonly snapshot?: Snapshot | undefined
}

/** A layer, for a replay that looks for changed ones. */
export interface RecordedLayer {
  /** The agent that it is registered with. */
  readonly agent: string
  readonly name: string
  /** The options that it declares, without functions. */
  readonly options?: Readonly<Record<string, unknown>> | undefined
}

/** A moment of a turn. */
export interface RecordedMoment {
  /** How many of the recorded steps had ended. */
  readonly after: number
  /** Milliseconds since the start of the turn. */
  readonly at: number
}

/** What the clock of the run said. */
export interface RecordedClock {
  /** The readings of `now()`, in order: first how many steps had ended, then the readings, in milliseconds since the start of the turn. */
  readonly reads: readonly (readonly number[])[]
  /** The timers that fired, with their length in milliseconds. Absent if none did. */
  readonly fired?: readonly (RecordedMoment & { readonly ms: number })[] | undefined
}

/** A message of `steer()`, before any layer changed it, at the moment when the layers got it: before the next step. */
export interface RecordedSteer extends RecordedMoment {
  readonly message: Message & { readonly role: 'user' }
}

/** An abort through the signal, the caller or the session. */
export interface RecordedAbort extends RecordedMoment {
  /** What was passed to `abort()`, or its message. */
  readonly reason: string
  /** The ids of the steps that it interrupted. */
  readonly during: readonly string[]
}

/** What a ledger answered. */
export interface RecordedPosting extends RecordedMoment {
  readonly operation: 'reserve' | 'settle'
  /** The id of the reservation. */
  readonly id: string
  readonly account: string
  readonly amount: number
  /** For a reservation: the limit of the account. */
  readonly limit?: number | undefined
  /** Whether the ledger refused to reserve. */
  readonly refused?: true | undefined
  /** The account without this reservation. Only for the first reservation of each account. */
  readonly balance?: LedgerBalance | undefined
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
  /** The layer that called `ctx.once()`. */
  readonly layer?: string | undefined
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
  readonly decision: 'denied' | 'suspended' | 'blocked' | 'aborted' | 'failed' | 'skipped' | 'retried' | 'recovered'
  readonly reason?: string | undefined
  /** What a layer that skipped a model call or a tool call answered. */
  readonly answer?: unknown
}
