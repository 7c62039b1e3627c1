// A layer of lifecycle hooks

// Classes
export { type AgentClass, agent, agentOf, type IAgent } from './agent.ts'
export { decorator } from './decorator.ts'
// Types of hooks, their arguments and results
export type { AbortInfo, ErrorInfo, FinishInfo } from './end-info.ts'
export { type FromOptions, from, type LifecycleInput } from './from.ts'
export type { HookContext, HookPhase } from './hook-context.ts'
export type { IMiddleware, Lifecycle, LifecycleClass } from './lifecycle.ts'
export type { RunConfig, RunPatch, StructuredOutputConfig, StructuredOutputPatch } from './run-config.ts'
export type { ToolCallDecision, ToolCallInfo, ToolCallOutcome, ToolPhase } from './tool-info.ts'
