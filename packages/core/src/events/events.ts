import type { ApprovalRecord } from '../messages/approval-record.ts'
import type { ProviderMetadata } from '../messages/message.ts'
import type { ToolStatus } from '../messages/tool-status.ts'
import type { Usage } from '../messages/usage.ts'
import type { ContentChunk, FinishChunk, FinishReason, ModelWarning } from '../model/chunk.ts'
import type { PendingCall } from '../state/snapshot.ts'

/** How a turn ended. `aborted` and `failed` reject the run; the others resolve it. */
export type RunStatus = 'completed' | 'stopped' | 'blocked' | 'suspended' | 'aborted' | 'failed'

interface InTurn {
  sessionId: string
  turnId: string
  /** The sub-agents that lead to where it happened, outermost first. */
  path?: readonly string[]
}
interface InStep extends InTurn {
  stepIndex: number
}

/** It comes before any layer, and so without the input, which one of them may still redact or block. */
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
  /** Of a block: which rule it was, for programs, and milliseconds after which it is worth another try. */
  code?: string
  retryAfter?: number
  usage: Usage
  /** Of a suspended run: the calls that wait for a decision, for the run's own reader alone. Observers get none: it has tokens. */
  pending?: readonly K['pending'][]
}
export interface StepStart extends InStep {
  type: 'step:start'
}
export interface StepEnd extends InStep {
  type: 'step:end'
}
/** What was shown of this model call no longer counts: another attempt follows. */
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
  /** What the model is sent, as text. */
  content: string
  isError: boolean
  /** What a human has decided of the call. */
  approval?: ApprovalRecord
}
/** What events tell of tool calls: of tools whose types are known, or of any. */
export interface CallEvents {
  start: ToolStart
  end: ToolEnd
  pending: PendingCall
}
/** A message that came while the turn ran stands in the history, before this step. */
export interface SteerDelivered extends InStep {
  type: 'steer:heard'
  /** That of `run.steer()`. */
  id: string
}
/** A message that came while the turn ran was not heard: nothing of it is kept. */
export interface SteerRejected extends InStep {
  type: 'steer:returned'
  id: string
  reason: string
}
/** The provider answered, though not quite as it was asked: it passed over a setting, say. */
export interface ModelWarned extends InStep {
  type: 'model:warning'
  model: string
  warning: ModelWarning
}
/** A step that is replayed is asked with other instructions, settings or definitions than it was: what is recorded stands. */
export interface JournalDrift extends InStep {
  type: 'journal:drift'
  /** Its id in the journal. */
  step: string
  /** What differs: `settings`, `tool definitions`. */
  differs: readonly string[]
}
/** What a layer sends with `ctx.emit()`. */
export interface CustomEvent {
  type: `${string}:${string}`
  [field: string]: unknown
}

/** A chunk of a sub-agent, whose own stream it left; it is not part of this run's answer. */
export interface SubAgentChunk extends InStep {
  type: 'model:chunk'
  chunk: ContentChunk | FinishChunk
}

/**
 * One event of a run's stream. Those with a `path` come from sub-agents. Where the agent's tools were made with `defineTool` the name of
 * a call tells its arguments; calls of sub-agents, and of tools that layers bring, come too, and are no part of that type.
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
  /** Absent where the call failed. */
  finishReason?: FinishReason
  usage?: Usage
  error?: unknown
  /** What the provider tells besides, where it does: see `FinishChunk`. */
  rawReason?: string
  paused?: boolean
  responseId?: string
  providerMetadata?: ProviderMetadata
  warnings?: ModelWarning[]
}

/** A layer, or a tool, tried something after its attempt had failed or was left: it had no effect. */
export interface LayerLate extends InStep {
  type: 'layer:late'
  layer: string
  scope: 'turn' | 'model' | 'tool'
  /** What it tried: a verb or a field of the context. */
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
  'steer:heard': SteerDelivered
  'steer:returned': SteerRejected
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

/** What observers may listen to, by name. Layers add their own by declaration merging. */
export interface AgentEvents extends CoreEvents {}
/** The events that layers declare. */
export type LayerEvent = AgentEvents[Exclude<keyof AgentEvents, keyof CoreEvents>]
