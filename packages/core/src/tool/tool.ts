import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { CustomEvent } from '../events/events.ts'
import type { ProviderOptions } from '../model/model.ts'
import type { Capability } from '../seams/capability.ts'
import type { RegisteredContext, RegisteredPrincipal } from '../seams/register.ts'
import type { JsonSchema } from '../seams/validate.ts'
import type { SuspendRequest } from '../state/snapshot.ts'
import type { Approval } from './approval.ts'
import type { ToolFlow } from './flow.ts'
import type { ToolResult } from './tool-result.ts'
import type { CallsOf, CallTypes } from './typed-calls.ts'

/** What a tool's `execute` gets besides its arguments: its place in the run, and the ways out. */
export interface ToolExecution {
  readonly callId: string
  /** Counts the attempts of this call from 1. */
  readonly attempt: number
  /**
   * The id of this execution, which is the same where the run is cut off and started again: the idempotency key to hand on to what the
   * tool calls. Another attempt of the call has another one.
   */
  readonly stepId: string
  /** Whether the run was cut off, and all that it has done so far is given from its journal. */
  readonly replaying: boolean
  /** Aborts on the tool's timeout, and when the run is cancelled. Pass it to everything that waits. */
  readonly signal: AbortSignal
  readonly sessionId: string
  readonly turnId: string
  readonly principal: RegisteredPrincipal
  readonly context: RegisteredContext
  readonly state: Record<string, unknown>
  readonly metadata: Record<string, unknown>
  inject<T>(capability: Capability<T>): T
  emit(event: CustomEvent): void
  once<T>(key: string, fn: () => T | Promise<T>): Promise<T>
  /** What a human has decided of this call, where the run resumes with it. */
  readonly approval: Approval | undefined
  /** What was asked of a human, where the run resumes with the answer: by which layer (undefined: the tool itself), and its request. */
  readonly asked: { readonly by: string | undefined; readonly request: Readonly<SuspendRequest> } | undefined
  /** Waits for a human: return what it gives. `session.resume()` calls the tool again, with `approval` set. */
  suspend(request?: SuspendRequest): ToolResult
  stop(reason?: string): void
  abort(reason?: unknown): never
  block(reason: string, options?: { reply?: string }): never
}

/** Something the model may call. Its arguments are checked and typed by `schema`, or checked by a raw `jsonSchema`. */
export interface Tool<
  S extends StandardSchemaV1 | undefined = StandardSchemaV1 | undefined,
  N extends string = string,
  O = unknown,
> {
  name: N
  description: string
  /** Any Standard Schema. Its JSON Schema comes from `~standard.jsonSchema` (zod 4 has it), else give `jsonSchema` too. */
  schema?: S
  jsonSchema?: JsonSchema
  /** Any value may be returned; what is not a string is written as JSON. Throwing gives the model an error result. */
  execute?(args: ToolArgs<S>, ctx: ToolExecution): O | Promise<O>
  /** Whether a human must approve the call. @default false */
  requireApproval?: boolean | ((args: ToolArgs<S>, ctx: ToolExecution) => boolean | Promise<boolean>)
  /** Milliseconds for `execute`; then its signal aborts and the model gets an error. @default the agent's toolTimeout */
  timeout?: number
  /**
   * What happens to a call that had begun, and whose end is not known, when its run is started again: it runs once more; the model
   * gets an error result, "outcome unknown"; or a person is asked, whose approval runs it. Holds where the run has a journal.
   * @default 'rerun'
   */
  afterCrash?: 'rerun' | 'fail' | 'ask'
  /**
   * A tool that the provider defines: its id there and its arguments. Without `execute` the provider runs it; with it, it
   * runs here, and what `execute` gives goes back as the provider wants it: a shell, a patch, a text in place of arguments.
   */
  providerExecuted?: { id: string; args: Record<string, unknown> }
  /** Passed to the provider with the tool, by provider: `{ anthropic: { deferLoading: true } }`. */
  providerOptions?: ProviderOptions
  /** Whether the provider holds the model to the schema, where it can. @default the provider's */
  strict?: boolean
  /** What it brings in and lets out, for `guard.flow`; `{}` where it does neither. @default not known */
  flow?: ToolFlow<ToolArgs<S>>
  /** The agent that it hands work to: layers that ask about tools ask about that one's too. */
  agent?: object
}

export type ToolArgs<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : Record<string, unknown>

/** A tool whose argument type does not matter any more. */
export type AnyTool = Omit<Tool<undefined>, 'schema' | 'execute' | 'requireApproval' | 'flow'> & {
  schema?: StandardSchemaV1 | undefined
  execute?(args: never, ctx: ToolExecution): unknown
  flow?: ToolFlow<never>
  requireApproval?: boolean | ((args: never, ctx: ToolExecution) => boolean | Promise<boolean>)
  '~calls'?: CallTypes | undefined
}

/** Tools, and what is told of the calls of each. */
export type ToolList<Calls extends readonly CallTypes[]> = readonly [
  ...{ [I in keyof Calls]: AnyTool & { '~calls'?: Calls[I] | undefined } },
]

/** A tool that tells the types of its calls. */
export interface DefinedTool<S extends StandardSchemaV1 | undefined, N extends string, O> extends Tool<S, N, O> {
  /** A type alone: nothing is there. */
  '~calls'?: CallsOf<S, N, O> | undefined
}

/**
 * Types a tool's arguments from its schema; and keeps its name and what it gives, so that events, approvals and results of an agent with it
 * are typed, also those of a client.
 */
export function defineTool<
  S extends StandardSchemaV1 | undefined = undefined,
  const N extends string = string,
  O = unknown,
>(tool: Tool<S, N, O>): DefinedTool<S, N, O> {
  return tool
}
