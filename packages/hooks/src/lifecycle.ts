import type { ContentChunk, Usage } from '@allium/core'
import type { HookContext } from './hook-context.ts'
import type { StructuredOutputConfig, StructuredOutputPatch } from './output-config.ts'
import type { RunConfig, RunPatch } from './run-config.ts'
import type { AbortInfo, ErrorInfo, FinishInfo } from './run-end.ts'
import type { ToolCallDecision, ToolCallInfo, ToolCallOutcome, ToolPhase } from './tool-info.ts'

type Awaitable<T> = T | Promise<T>
type Nothing = void | undefined | null

/**
 * What an object or a class can do at the points of a run. Every hook is optional; one that throws fails the run, but for
 * the last three. `C` is the type of `ctx.context`.
 */
export interface Lifecycle<C = unknown> {
  /** The name in errors, logs and `agent.inspect()`. @default the name of its class, or `hooks#1` by its place */
  getName?(): string
  /** First, at the start of each run: provides capabilities for what comes later. */
  setup?(ctx: HookContext<C>): Awaitable<Nothing>
  /** At the start of each run (`ctx.phase` is `init`) and of each iteration (`beforeModel`). What it gives is merged into the run. */
  onConfig?(ctx: HookContext<C>, config: RunConfig): Awaitable<RunPatch | Nothing>
  /** Right before each model call, attempts included where a retry stands outside. What it gives is for this call alone. */
  onBeforeModel?(ctx: HookContext<C>, config: RunConfig): Awaitable<RunPatch | Nothing>
  /** Before each call whose answer must fit the run's `output`: changes what is sent of its JSON Schema, and the rest of the call. */
  onStructuredOutputConfig?(
    ctx: HookContext<C>,
    config: StructuredOutputConfig,
  ): Awaitable<StructuredOutputPatch | Nothing>
  /** Once, when the run starts. */
  onStart?(ctx: HookContext<C>): Awaitable<Nothing>
  /** At the start of each iteration: a model call and the tools that it asks for. */
  onIteration?(ctx: HookContext<C>, info: { readonly iteration: number }): Awaitable<Nothing>
  /** For each streamed chunk: nothing passes it on, a chunk replaces it, an array expands it, null drops it. */
  onChunk?(ctx: HookContext<C>, chunk: ContentChunk): Awaitable<ContentChunk | readonly ContentChunk[] | Nothing>
  /** Before a tool runs: nothing, other arguments, a result in its place, or the end of the run. */
  onBeforeToolCall?(ctx: HookContext<C>, call: ToolCallInfo): Awaitable<ToolCallDecision | Nothing>
  /** After a tool ran, failed, was skipped or denied. */
  onAfterToolCall?(ctx: HookContext<C>, call: ToolCallOutcome): Awaitable<Nothing>
  /** After all tool calls of an iteration. */
  onToolPhaseComplete?(ctx: HookContext<C>, phase: ToolPhase): Awaitable<Nothing>
  /** After each model call that used tokens, also one that failed or was left, with what it used. */
  onUsage?(ctx: HookContext<C>, usage: Usage): Awaitable<Nothing>
  /** After the tools of an iteration, before the next one: false ends the loop. */
  onShouldContinue?(ctx: HookContext<C>, phase: ToolPhase): Awaitable<boolean | Nothing>
  /** Terminal: the run came to a result. One of the three runs, once, when nothing can change how the run ended. */
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
