import type { ApprovalRecord, ProviderMetadata, ToolStatus } from '../messages/message.ts'
import type { Usage } from '../messages/usage.ts'
import type { ContentChunk, FinishChunk, FinishReason, ModelWarning } from '../model/chunk.ts'
import type { PendingCall } from '../state/snapshot.ts'

/** How a turn ended. `aborted` and `failed` reject the run; the others resolve it. */
export type RunStatus = 'completed' | 'stopped' | 'blocked' | 'suspended' | 'aborted' | 'failed'

interface InTurn {
  sessionId: string
  turnId: string
  /** The path of sub-agents to the event, outermost first. */
  path?: readonly string[]
}
interface InStep extends InTurn {
  stepIndex: number
}

/** Emitted before any layer runs. It has no input, because a layer may still redact or block the input. */
export interface TurnStart extends InTurn {
  type: 'turn:start'
  turnIndex: number
  /** The run that this one resumes. */
  resumes?: string
}
export interface TurnEnd<K extends CallEvents = CallEvents> extends InTurn {
  type: 'turn:end'
  turnIndex: number
  /** How the turn ended. */
  status: RunStatus
  /** Why it was stopped, blocked or aborted. */
  reason?: string
  /** For a block: the rule, for programs, and the milliseconds after which a retry makes sense. */
  code?: string
  retryAfter?: number
  usage: Usage
  /** For a suspended run: the pending calls. Only the run's own reader gets them, not observers, because they contain tokens. */
  pending?: readonly K['pending'][]
}
export interface StepStart extends InStep {
  type: 'step:start'
}
export interface StepEnd extends InStep {
  type: 'step:end'
}

/** The chunks of this model call that were already streamed no longer count, because another attempt follows. */
export interface ModelReset extends InStep {
  type: 'model:reset'
}
export interface ToolStart extends InStep {
  type: 'tool:start'
  callId: string
  name: string
  args: Readonly<Record<string, unknown>>
}
export interface ToolEnd extends InStep {
  type: 'tool:end'
  callId: string
  name: string
  status: ToolStatus
  /** The text sent to the model. */
  content: string
  isError: boolean
  /** The approval decision, if there was one. */
  approval?: ApprovalRecord
}

/** The types of tool calls in events. */
export interface CallEvents {
  start: ToolStart
  end: ToolEnd
  pending: PendingCall
}

/** A message that arrived during the turn was added to the history, before this step. */
export interface SteerDelivered extends InStep {
  type: 'steer:delivered'
  /** The message's id, from the options of `run.steer()`. */
  id: string
}

/** A message that arrived during the turn was not delivered and is not stored. */
export interface SteerRejected extends InStep {
  type: 'steer:rejected'
  id: string
  reason: string
}

/** The provider answered, but did not follow the whole request: for example, it ignored a setting. */
export interface ModelWarned extends InStep {
  type: 'model:warning'
  model: string
  warning: ModelWarning
}

/** A replayed step has other instructions, settings or definitions than when it was recorded. The recorded result is used. */
export interface JournalDrift extends InStep {
  type: 'journal:drift'
  /** Its id in the journal. */
  step: string
  /** The parts that differ: `settings`, `tool definitions`. */
  differs: readonly string[]
}

/** An event that a layer sends with `ctx.emit()`. */
export interface CustomEvent {
  type: `${string}:${string}`
  [field: string]: unknown
}

/** A chunk of a sub-agent, forwarded from its stream. It is not part of this run's answer. */
export interface SubAgentChunk extends InStep {
  type: 'model:chunk'
  chunk: ContentChunk | FinishChunk
}

/**
 * One event of a run's stream. Events with a `path` come from sub-agents. If the agent's tools were made with `defineTool`, the name
 * of a call determines the type of its arguments. Calls of sub-agents and of tools from layers also appear, but not in this type.
 */
export type StreamEvent<K extends CallEvents = CallEvents> =
  | ContentChunk
  | FinishChunk
  | ModelReset
  | ModelWarned
  | K['start']
  | K['end']
  | StepStart
  | StepEnd
  | SteerDelivered
  | SteerRejected
  | TurnStart
  | TurnEnd<K>
  | SubAgentChunk
  | JournalDrift

export interface ModelStart extends InStep {
  type: 'model:start'
  model: string
  callIndex: number
}
export interface ModelEnd extends InStep {
  type: 'model:end'
  model: string
  callIndex: number
  /** Absent if the call failed. */
  finishReason?: FinishReason
  usage?: Usage
  error?: unknown
  /** Details from the provider, if it sends any. See `FinishChunk`. */
  rawReason?: string
  paused?: boolean
  responseId?: string
  providerMetadata?: ProviderMetadata
  warnings?: ModelWarning[]
}

/** A layer or a tool used its context after its attempt had failed or was abandoned. This had no effect. */
export interface LayerLate extends InStep {
  type: 'layer:late'
  layer: string
  scope: 'turn' | 'model' | 'tool'
  /** The method or field of the context that it used. */
  verb: string
}

/** The events of the core, by name. */
export interface CoreEvents {
  'agent:start': { type: 'agent:start'; agent: string }
  'agent:end': { type: 'agent:end'; agent: string }
  'session:start': { type: 'session:start'; sessionId: string }
  'session:end': { type: 'session:end'; sessionId: string }
  'turn:start': TurnStart
  'turn:end': TurnEnd & { error?: unknown }
  'step:start': StepStart
  'step:end': StepEnd
  'steer:delivered': SteerDelivered
  'steer:rejected': SteerRejected
  'model:start': ModelStart
  'model:chunk': InStep & { type: 'model:chunk'; chunk: ContentChunk | FinishChunk }
  'model:reset': ModelReset
  'model:warning': ModelWarned
  'model:end': ModelEnd
  'journal:drift': JournalDrift
  'tool:start': ToolStart
  'tool:end': ToolEnd & { error?: unknown }
  'layer:late': LayerLate
  error: { type: 'error'; sessionId: string; turnId: string; error: unknown }
  'observer:error': { type: 'observer:error'; event: string; error: unknown }
}

/** The events that observers can subscribe to, by name. Layers add their own by declaration merging. */
export interface AgentEvents extends CoreEvents {}
/** The events that layers declare. */
export type LayerEvent = AgentEvents[Exclude<keyof AgentEvents, keyof CoreEvents>]
/** How a run ended: its `turn:end` event, with the error if it was aborted, blocked or failed. */
export type RunEnd = CoreEvents['turn:end']
