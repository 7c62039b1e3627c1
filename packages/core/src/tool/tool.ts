import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { CustomEvent } from '../events/events.ts'
import type { ProviderOptions } from '../model/model.ts'
import type { Capability } from '../ports/capability.ts'
import type { RegisteredContext, RegisteredPrincipal } from '../ports/register.ts'
import type { SuspendRequest } from '../state/snapshot.ts'
import type { Approval } from './approval.ts'
import type { CallsOf, CallTypes } from './call-record.ts'
import type { ToolFlow } from './flow.ts'
import type { ToolResult } from './tool-result.ts'

/** The second parameter of a tool's `execute`: its place in the run, and the ways to suspend or end it. */
export interface ToolExecution {
  readonly callId: string
  /** The attempt number of this call, from 1. */
  readonly attempt: number
  /**
   * The id of this execution. Use it as the idempotency key for the services that the tool calls: it stays the same if the run is
   * interrupted and restarted. Another attempt of the call has another id.
   */
  readonly stepId: string
  /** Aborts when the tool times out or the run is cancelled. Pass it to everything that waits. */
  readonly signal: AbortSignal
  readonly sessionId: string
  readonly turnId: string
  readonly principal: RegisteredPrincipal
  readonly context: RegisteredContext
  readonly state: Record<string, unknown>
  readonly metadata: Record<string, unknown>
  /** Returns the capability, or undefined if it is not provided. `inject(ctx, capability)` throws instead. */
  find<T>(capability: Capability<T>): T | undefined
  emit(event: CustomEvent): void
  once<T>(key: string, fn: () => T | Promise<T>): Promise<T>
  /** The human's decision on this call, when the run resumes with it. */
  readonly approval: Approval | undefined
  /** Suspends the call until a human decides. Return its result. `session.resume()` calls the tool again, with `approval` set. */
  suspend(request?: SuspendRequest): ToolResult
  stop(reason?: string): void
  abort(reason?: unknown): never
  block(reason: string, options?: { reply?: string }): never
}

/** A tool that the model can call. `schema` checks and types its arguments. A raw `jsonSchema` only checks them. */
export interface Tool<
  S extends StandardSchemaV1 | undefined = StandardSchemaV1 | undefined,
  N extends string = string,
  O = unknown,
> {
  name: N
  description: string
  /** Any Standard Schema. Its JSON Schema comes from `~standard.jsonSchema`, which zod 4 has. Without that, set `jsonSchema` too. */
  schema?: S
  /** The JSON Schema that the model reads. Without `schema`, it also checks the arguments. */
  jsonSchema?: object
  /** May return any value; non-string values are serialized as JSON. If it throws, the model gets an error result. */
  execute?(args: ToolArgs<S>, ctx: ToolExecution): O | Promise<O>
  /** Whether a human must approve the call. @default false */
  requireApproval?: boolean | ((args: ToolArgs<S>, ctx: ToolExecution) => boolean | Promise<boolean>)
  /** Timeout of `execute` in milliseconds. Then its signal aborts and the model gets an error. @default the agent's toolTimeout */
  timeout?: number
  /**
   * What to do when a run restarts and the outcome of a started call is unknown: run it again, return the error result
   * "outcome unknown" to the model, or ask a human, whose approval runs it. Applies to runs with a journal.
   * @default 'retry'
   */
  onInterrupted?: 'retry' | 'fail' | 'ask'
  /**
   * A tool that the provider defines: its id there and its arguments. Without `execute`, the provider runs it. With `execute`, it
   * runs here, and the result goes back in the provider's format, for example for a shell, a patch, or text instead of arguments.
   */
  providerExecuted?: { id: string; args: Record<string, unknown> }
  /** Options that the provider gets with the tool, by provider: `{ anthropic: { deferLoading: true } }`. */
  providerOptions?: ProviderOptions
  /** Whether the provider enforces the schema, if it can. @default the provider's default */
  strict?: boolean
  /** The data that it reads in and sends out, for `guard.flow`. `{}` declares neither. @default unknown */
  flow?: ToolFlow<ToolArgs<S>>
  /** The agent that it delegates to. Layers that check an agent's tools also check that agent's. */
  agent?: object
}

export type ToolArgs<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : Record<string, unknown>

/** A tool of any argument type. */
export type AnyTool = Omit<Tool<undefined>, 'schema' | 'execute' | 'requireApproval' | 'flow'> & {
  schema?: StandardSchemaV1 | undefined
  execute?(args: never, ctx: ToolExecution): unknown
  flow?: ToolFlow<never>
  requireApproval?: boolean | ((args: never, ctx: ToolExecution) => boolean | Promise<boolean>)
  '~calls'?: CallTypes | undefined
}

/** Tools, with the types of their calls. */
export type ToolList<Calls extends readonly CallTypes[]> = readonly [
  ...{ [I in keyof Calls]: AnyTool & { '~calls'?: Calls[I] | undefined } },
]

/** A tool that carries the types of its calls. */
export interface DefinedTool<S extends StandardSchemaV1 | undefined, N extends string, O> extends Tool<S, N, O> {
  /** Exists only as a type. */
  '~calls'?: CallsOf<S, N, O> | undefined
}

/**
 * Types a tool's arguments from its schema, and keeps its name and return type. So the events, approvals and results of an agent
 * with this tool are typed, also in a client.
 */
export function defineTool<
  S extends StandardSchemaV1 | undefined = undefined,
  const N extends string = string,
  O = unknown,
>(tool: Tool<S, N, O>): DefinedTool<S, N, O> {
  return tool
}
