// The agent
export { Agent, type ResultOf } from './agent/agent.ts'
export { delegate } from './agent/delegate.ts'
export type { InspectedLayer, Inspection } from './agent/inspect.ts'
export type { AgentOptions } from './agent/options.ts'
export type { ApprovalOptions, Instructions } from './agent/scope/agent-scope.ts'
// Contexts
export type { AgentContext, AgentView } from './contexts/agent.ts'
export type { ModelContext } from './contexts/model.ts'
export type { SessionContext, SessionView } from './contexts/session.ts'
export type { ToolContext } from './contexts/tool.ts'
export type { TurnContext, TurnView } from './contexts/turn.ts'
// Errors
export { AbortError } from './errors/abort-error.ts'
export { AlliumError, type AlliumErrorOptions, isAlliumError } from './errors/allium-error.ts'
export { BlockError, type BlockOptions, isBlockError } from './errors/block-error.ts'
export { type ErrorCode, errorCodes } from './errors/codes.ts'
export { messageOf } from './errors/describe.ts'
// Events
export type * from './events/events.ts'
export type { RunEnd } from './events/events.ts'
// Messages and usage
export type { ReadonlyHistory } from './messages/history.ts'
export type * from './messages/message.ts'
export type { ApprovalRecord, Identity, ToolStatus } from './messages/message.ts'
export { textOf } from './messages/message.ts'
export { fromJson, toJson } from './messages/plain-json.ts'
export { addUsage, noUsage, type Usage } from './messages/usage.ts'
export type { DisplayContext, DisplayTransform } from './middleware/middleware.ts'
export {
  type AnyMiddleware,
  defineMiddleware,
  type HookInfo,
  type HookRun,
  type Hooks,
  type LayerOrder,
  type Middleware,
  type NextFor,
  type StateOf,
  type ToMiddleware,
  type TypedMiddleware,
  type Usable,
} from './middleware/middleware.ts'
// Layer factories
export * as option from './middleware/option-checks.ts'
export { layerOptions, misconfigured, sum, withState } from './middleware/options.ts'
// Models
export type * from './model/chunk.ts'
export { estimateInputTokens } from './model/estimate.ts'
export type {
  AdaptModel,
  Model,
  ModelRef,
  ModelRequest,
  ProviderOptions,
  ResolveModel,
  ResponseFormat,
  Settings,
  ToolChoice,
  ToolDef,
} from './model/model.ts'
export type { ModelResponse, ResponseInput, ToolCall } from './model/response.ts'
// Layers
export { compose, type Layer as ComposeLayer, type Layers as ComposeLayers } from './onion/compose.ts'
export type { NextOptions, ScopeName } from './onion/hook.ts'
export type { OutputOf, OutputOption, OutputStrategy } from './output/option.ts'
// Ports
export type * from './ports/around.ts'
export { type Capability, capability } from './ports/capability.ts'
export { type Clock, delay, systemClock } from './ports/clock.ts'
export { followSignal } from './ports/follow-signal.ts'
export type { Ids } from './ports/ids.ts'
export type { Emit, Journal } from './ports/journal.ts'
export type { Logger } from './ports/logger.ts'
export type { Register, RegisteredContext, RegisteredPrincipal } from './ports/register.ts'
export { digestOf } from './ports/seal.ts'
export type { Lease, SessionKey, StoredRecord, StoredTurn } from './ports/session-store.ts'
export { ownerOf, sessionKeyOf, tenantOf } from './ports/tenant.ts'
export type { JsonSchema } from './ports/validate.ts'
export type { AgentRun } from './session/agent-run.ts'
export type { ResumeOptions, RunOptions, SessionOptions } from './session/options.ts'
export { type Erasure, type Writer, writerOf } from './session/scope/writer-of.ts'
export type { Session } from './session/session.ts'
export type { SteerInput, SteerOptions } from './session/steer-input.ts'
export type { StateField } from './state/field.ts'
export type { PendingCall, Snapshot, SuspendedCall, SuspendRequest, Suspension } from './state/snapshot.ts'
export type { OnChunk, Pipe, StreamVerbs } from './stream/transforms.ts'
// Tools
export type { Approval, DecidableCall, Decision } from './tool/approval.ts'
export type { CallTypes, ToolCallRecord } from './tool/call-record.ts'
export type { FlowLabels, ToolFlow } from './tool/flow.ts'
export {
  type AnyTool,
  type DefinedTool,
  defineTool,
  type Tool,
  type ToolArgs,
  type ToolExecution,
  type ToolList,
} from './tool/tool.ts'
export { type ShapedToolResult, type ToolResult, type ToolResultInput, toolResult } from './tool/tool-result.ts'
export type { Steered } from './turn/inputs.ts'
export type { Partial as PartialResult, RunResult } from './turn/run-result.ts'
