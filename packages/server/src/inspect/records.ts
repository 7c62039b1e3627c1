import type { Message, ResponseFormat, Settings, ToolChoice, ToolDef, Usage } from '@allium/core'
import type { RecordedSpan } from '@allium/observe'

/** A turn began. */
export interface TurnRecord {
  type: 'turn'
  turnId: string
  sessionId: string
  tenant: string
  owner: string
  agent: string
  /** The principal of the session, without credentials. */
  principal: unknown
  turnIndex: number
  resumed: boolean
  /** The turn that this one belongs to, if that is another one. */
  rootTurnId?: string
  /** Milliseconds since the epoch. */
  startedAt: number
}

/** A call entered a layer. Times of spans are milliseconds from the start of the turn. */
export interface OpenRecord extends Pick<RecordedSpan, 'id' | 'layer' | 'scope' | 'core' | 'subject' | 'start'> {
  type: 'open'
  turnId: string
  /** The span around it. */
  parent?: number
  /** Of a tool call. */
  callId?: string
}

/** A layer returned or threw. It is sent again if an outer layer changed its decision. */
export interface CloseRecord
  extends Pick<RecordedSpan, 'id' | 'duration' | 'self' | 'decision' | 'entered' | 'detail' | 'changed'> {
  type: 'close'
  turnId: string
  /** The error that a tool threw, with its stack. The model does not receive it. */
  error?: string
}

/** A request as it was sent to the model. */
export interface RequestRecord {
  type: 'request'
  turnId: string
  /** The span of the model. */
  id: number
  model: string
  /** How many messages of the turn's previous request come first, unchanged. */
  keep: number
  /** The messages after these. */
  messages: readonly Message[]
  /** Absent if they are the same as in the turn's previous request. */
  tools?: readonly ToolDef[]
  settings: Readonly<Settings>
  toolChoice: ToolChoice
  responseFormat: ResponseFormat
}

/** The answer of a model. */
export interface ResponseRecord {
  type: 'response'
  turnId: string
  id: number
  model: string
  text: string
  reasoning?: string
  toolCalls: readonly unknown[]
  finishReason: string
  usage: Usage
}

/** The cost of a model call in USD. */
export interface CostRecord {
  type: 'cost'
  turnId: string
  id: number
  usd: number
}

/** A layer changed a part of its call. */
export interface ChangeRecord {
  type: 'change'
  turnId: string
  id: number
  field: string
  /** For a list: the index of the first difference. */
  at?: number
  before: unknown
  after: unknown
}

/** A key of the session's state has a new value. */
export interface StateRecord {
  type: 'state'
  turnId: string
  sessionId: string
  /** The span during which it was written. */
  id: number
  layer: string
  key: string
  value: unknown
  /** The source of the key's reducer, in the turn's first record of the key. Absent without a reducer: the last write wins. */
  reducer?: string
  /** Milliseconds since the epoch. */
  at: number
}

/** An event of a run, as its readers receive it. */
export interface EventRecord {
  type: 'event'
  turnId: string
  sessionId: string
  tenant: string
  owner: string
  event: { type: string; [field: string]: unknown }
  /** Milliseconds since the epoch. */
  at: number
}

export type InspectRecord =
  | TurnRecord
  | OpenRecord
  | CloseRecord
  | RequestRecord
  | ResponseRecord
  | CostRecord
  | ChangeRecord
  | StateRecord
  | EventRecord
