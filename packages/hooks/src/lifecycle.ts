import type { ContentChunk, Usage } from '@allium/core'
import type { AbortInfo, ErrorInfo, FinishInfo } from './end-info.ts'
import type { HookContext } from './hook-context.ts'
import type { RunConfig, RunPatch, StructuredOutputConfig, StructuredOutputPatch } from './run-config.ts'
import type { ToolCallDecision, ToolCallInfo, ToolCallOutcome, ToolPhase } from './tool-info.ts'

type Awaitable<T> = T | Promise<T>
type Nothing = void | undefined | null

/**
 * The lifecycle hooks of an object or a class. Every hook is optional. A hook that throws fails the run, except for the last three.
 * `C` is the type of `ctx.context`.
 */
export interface Lifecycle<C = unknown> {
  /** The name in errors, logs and `agent.inspect()`. @default the name of its class, or a generated name such as `hooks#1` */
  getName?(): string
  /** First, at the start of each run: provides capabilities for later hooks. */
  setup?(ctx: HookContext<C>): Awaitable<Nothing>
  /** At the start of each run (`ctx.phase` is `init`) and of each iteration (`beforeModel`). Its result is merged into the run. */
  onConfig?(ctx: HookContext<C>, config: RunConfig): Awaitable<RunPatch | Nothing>
  /** Directly before each model call, including attempts of an outer retry. Its result applies to this call only. */
  onBeforeModel?(ctx: HookContext<C>, config: RunConfig): Awaitable<RunPatch | Nothing>
  /** Before each call whose answer must match the run's `output`: changes the JSON Schema that is sent, and the rest of the call. */
  onStructuredOutputConfig?(
    ctx: HookContext<C>,
    config: StructuredOutputConfig,
  ): Awaitable<StructuredOutputPatch | Nothing>
  /** Once, when the run starts. */
  onStart?(ctx: HookContext<C>): Awaitable<Nothing>
  /** At the start of each iteration: a model call and the tools that it calls. */
  onIteration?(ctx: HookContext<C>, info: { readonly iteration: number }): Awaitable<Nothing>
  /** For each streamed chunk: undefined passes it on, a chunk replaces it, an array expands it, null drops it. */
  onChunk?(ctx: HookContext<C>, chunk: ContentChunk): Awaitable<ContentChunk | readonly ContentChunk[] | Nothing>
  /** Before a tool runs: returns nothing, other arguments, a result that replaces the call, or the end of the run. */
  onBeforeToolCall?(ctx: HookContext<C>, call: ToolCallInfo): Awaitable<ToolCallDecision | Nothing>
  /** After a tool ran, failed, was skipped or denied. */
  onAfterToolCall?(ctx: HookContext<C>, call: ToolCallOutcome): Awaitable<Nothing>
  /** After all tool calls of an iteration. */
  onToolPhaseComplete?(ctx: HookContext<C>, phase: ToolPhase): Awaitable<Nothing>
  /** After each model call that used tokens, with its usage; also for failed or abandoned calls. */
  onUsage?(ctx: HookContext<C>, usage: Usage): Awaitable<Nothing>
  /** After the tools of an iteration, before the next one: false ends the loop. */
  onShouldContinue?(ctx: HookContext<C>, phase: ToolPhase): Awaitable<boolean | Nothing>
  /** Terminal: the run has a result. One of the three terminal hooks runs, once, when the outcome of the run is final. */
  onFinish?(ctx: HookContext<C>, info: FinishInfo): Awaitable<Nothing>
  /** Terminal: the run was aborted, or its reader left. */
  onAbort?(ctx: HookContext<C>, info: AbortInfo): Awaitable<Nothing>
  /** Terminal: the run failed. */
  onError?(ctx: HookContext<C>, info: ErrorInfo): Awaitable<Nothing>
}

/** A lifecycle with a name, for classes: `class Audit implements IMiddleware<{ tenant: string }>`. */
export interface IMiddleware<TContext = unknown> extends Lifecycle<TContext> {
  getName(): string
}

/** A class of them; an instance is made without arguments. */
export type LifecycleClass<C = unknown> = new () => Lifecycle<C>
