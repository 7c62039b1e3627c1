import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { AgentContext } from '../contexts/agent.ts'
import type { ModelContext } from '../contexts/model.ts'
import type { SessionContext } from '../contexts/session.ts'
import type { ToolContext } from '../contexts/tool.ts'
import type { TurnContext } from '../contexts/turn.ts'
import type { CallSite } from '../errors/call-site.ts'
import type { ModelResponse, ResponseInput } from '../model/response.ts'
import type { NextOptions, ScopeName } from '../onion/hook.ts'
import type { Capability } from '../ports/capability.ts'
import type { RegisteredContext, RegisteredPrincipal } from '../ports/register.ts'
import type { SessionKey } from '../ports/session-store.ts'
import type { StateField } from '../state/field.ts'
import type { AnyTool } from '../tool/tool.ts'
import type { ToolResult, ToolResultInput } from '../tool/tool-result.ts'

type Awaitable<T> = T | Promise<T>
type Nothing = void | undefined

/** Runs the next layer inward. Await its promise, or return it. */
export type NextFor<R> = (options?: NextOptions) => Promise<R>

/** The hooks of a layer by scope; C and P are the agent's context and principal. */
export interface Hooks<S, Config, C, P, Args = Record<string, unknown>> {
  /** Wraps the lifetime of the agent: the part before `next()` runs at `init()`, the rest at `dispose()`. */
  agent(ctx: AgentContext<Config>, next: NextFor<void>): Awaitable<Nothing>
  /** Wraps a session: the part before `next()` runs when it opens, the rest when it closes. */
  session(ctx: SessionContext<S, Config, C, P>, next: NextFor<void>): Awaitable<Nothing>
  /** Wraps one input and its answer. Without `next()`, the layer answers the turn itself through `ctx.output`. */
  turn(ctx: TurnContext<S, Config, C, P>, next: NextFor<void>): Awaitable<Nothing>
  /** Wraps each model call. Returns the response of `next()`, a text, or a response of its own. */
  model(ctx: ModelContext<S, Config, C, P>, next: NextFor<ModelResponse>): Awaitable<ResponseInput>
  /** Wraps each tool call. Returns the result of `next()`, a text, or a result of its own. */
  tool(ctx: ToolContext<S, Config, C, P, Args>, next: NextFor<ToolResult>): Awaitable<ToolResultInput>
}

/** A layer's categories and position, for the order check. `inside` and `outside` take names or categories. */
export interface LayerOrder {
  /** Such as `retries`, `meters`, `caches`, `redacts`, `authorizes`. */
  is?: readonly string[]
  /** The scopes that the other fields apply to. Hooks in other scopes may be in any order. @default all scopes that it hooks */
  scopes?: readonly ScopeName[]
  inside?: readonly string[]
  outside?: readonly string[]
}

interface LayerFields {
  /** Unique in an agent. State keys and events start with it. */
  name: string
  /** Tools that the layer adds. */
  tools?: readonly AnyTool[]
  provides?: readonly Capability<unknown>[]
  requires?: readonly Capability<unknown>[]
  order?: LayerOrder
  /**
   * The options that it was created with, without secrets, for `inspect()`. A durable run that continues with other options reports it as
   * `journal:drift`. Functions are not compared. @default none
   */
  options?: Readonly<Record<string, unknown>>
  /** Whether its model and tool hooks run right around the core, inside all other layers. @default false */
  innermost?: boolean
  /** Whether its model and tool hooks may call next() again after next() has succeeded. @default false */
  reenters?: boolean
  /** Whether sub-agents run it too. @default false */
  inherit?: boolean
  /**
   * Whether its tool hook must see every call of this tool. If the provider runs such a tool, `init()` rejects it, because no
   * layer sees those calls. @default no tool
   */
  guards?(tool: string): boolean
  /**
   * Returns the reason why an agent may not have a tool, or undefined if it may. `init()` rejects such a tool, in the agent and,
   * if the layer is inherited, in its sub-agents. For layers with a tool hook. @default all tools are admitted
   */
  admits?(tool: AnyTool): string | undefined
  /**
   * Returns the transform from stored text to the text that the session's owner sees. It does for later readers what
   * `onDisplay(ctx, make)` does for the stream of a run. Called for each display of a history or a stored answer. @default texts as stored
   */
  display?(ctx: DisplayContext): Awaitable<DisplayTransform | undefined>
  /** Only a type: rejects functions, which also have a name. Call the factory: `.use(budget({ … }))`. */
  readonly apply?: never
  /**
   * Wraps the turn, model and tool hooks of all other layers, and the core, when the onion is compiled. For traces and timings. With
   * `inherit`, those of sub-agents too.
   */
  wrapHooks?(hook: HookInfo): HookRun
}

/** Another layer's hook, as passed to `wrapHooks()`. */
export interface HookInfo extends Pick<LayerFields, 'options'> {
  /** The layer's name; undefined for the core, which the innermost next() runs. */
  readonly layer: string | undefined
  readonly scope: ScopeName
  readonly run: HookRun
}
export type HookRun = (ctx: never, next: (options?: NextOptions) => Promise<unknown>) => unknown

type ConfigOf<Schema> = Schema extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<Schema> : unknown

/** A layer whose state and config types are inferred. `defineMiddleware` and `agent.use` take it. */
export interface TypedMiddleware<
  F,
  Schema extends StandardSchemaV1 | undefined = undefined,
  C = RegisteredContext,
  P = RegisteredPrincipal,
> extends LayerFields,
    Partial<Hooks<F, ConfigOf<Schema>, C, P>> {
  state?: { [K in keyof F]: StateField<F[K]> }
  /** Any Standard Schema. It types and checks the config in `.use(layer, config)`. */
  config?: Schema
  readonly loose?: never
}

// biome-ignore lint/suspicious/noExplicitAny: the only loose type, for layers that are written without inference
type Loose = any

/** A layer without inference. Its hooks see loose types for state, config, arguments and context. It adds no state type to the agent. */
export interface Middleware extends LayerFields, Partial<Hooks<Loose, Loose, Loose, Loose, Loose>> {
  state?: Record<string, StateField<Loose>>
  config?: StandardSchemaV1
  /** Only a type: distinguishes a loose layer from an inferred one. */
  readonly loose?: true
}

/** An object that converts to one or more layers. */
export interface ToMiddleware {
  toMiddleware(): AnyMiddleware | readonly AnyMiddleware[]
}

/** A layer of either kind. */
export type AnyMiddleware = Middleware | TypedMiddleware<Loose, Loose, Loose, Loose>
type TurnHook = Hooks<Loose, Loose, Loose, Loose>['turn']
/** Everything that `.use()` accepts as one layer. */
export type Usable = AnyMiddleware | ToMiddleware | TurnHook | readonly Usable[]

/** Whether a layer was declared as plain `Middleware`, without inference. */
export type IsLoose<M> = 'loose' extends keyof M ? (true extends M['loose'] ? true : false) : false

/** The state type that a layer adds. */
export type StateOf<M> =
  IsLoose<M> extends true
    ? {}
    : M extends { state?: infer D }
      ? { [K in keyof D]: D[K] extends StateField<infer T> ? T : never }
      : {}

/** One registered layer. */
export interface Layer {
  readonly name: string
  readonly spec: AnyMiddleware
  readonly config: unknown
  /** The caller of `use()`. */
  readonly callSite?: CallSite | undefined
}

export const scopeNames: readonly ScopeName[] = ['agent', 'session', 'turn', 'model', 'tool']

/** Infers a layer's types from its fields: its state in `ctx.state`, its config in `ctx.config`. Does nothing at run time. */
export function defineMiddleware<F = {}, Schema extends StandardSchemaV1 | undefined = undefined>(
  layer: TypedMiddleware<F, Schema>,
): TypedMiddleware<F, Schema> {
  return layer
}

/** The parameter of a layer's `display()`: the session whose stored texts are displayed. */
export interface DisplayContext {
  readonly agent: { readonly name: string }
  readonly sessionKey: SessionKey
  /** Looks up a capability of the agent's layers. */
  find<T>(capability: Capability<T>): T | undefined
}

/** Turns a stored text into the text that the owner of the session sees. */
export type DisplayTransform = (text: string) => string
