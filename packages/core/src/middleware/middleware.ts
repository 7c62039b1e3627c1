import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { CallSite } from '../errors/call-site.ts'
import type { ModelResponse, ResponseInput } from '../model/response.ts'
import type { NextOptions, ScopeName } from '../onion/hook.ts'
import type { AgentContext } from '../rings/agent/context.ts'
import type { ModelContext } from '../rings/model/context.ts'
import type { SessionContext } from '../rings/session/context.ts'
import type { ToolContext } from '../rings/tool/context.ts'
import type { TurnContext } from '../rings/turn/context.ts'
import type { Capability } from '../seams/capability.ts'
import type { RegisteredContext, RegisteredPrincipal } from '../seams/register.ts'
import type { StateField } from '../state/field.ts'
import type { AnyTool } from '../tool/tool.ts'
import type { ToolResult, ToolResultInput } from '../tool/tool-result.ts'
import type { DisplayContext, DisplayTransform } from './display-transform.ts'

type Awaitable<T> = T | Promise<T>
type Nothing = void | undefined

/** Goes one layer inward. Await it, or return it. */
export type NextFor<R> = (options?: NextOptions) => Promise<R>

/** The hooks of a layer by scope; C and P are the agent's context and principal. */
export interface Hooks<S, Config, C, P, Args = Record<string, unknown>> {
  /** Around the life of the agent: up to `next()` at `init()`, the rest at `dispose()`. */
  agent(ctx: AgentContext<Config>, next: NextFor<void>): Awaitable<Nothing>
  /** Around a session: up to `next()` when it opens, the rest when it closes. */
  session(ctx: SessionContext<S, Config, C, P>, next: NextFor<void>): Awaitable<Nothing>
  /** Around one input and its answer. Without `next()` it answers the turn itself, by `ctx.output`. */
  turn(ctx: TurnContext<S, Config, C, P>, next: NextFor<void>): Awaitable<Nothing>
  /** Around each call of the model. Returns what `next()` gave, a text, or a response of its own. */
  model(ctx: ModelContext<S, Config, C, P>, next: NextFor<ModelResponse>): Awaitable<ResponseInput>
  /** Around each call of a tool. Returns what `next()` gave, a text, or a result of its own. */
  tool(ctx: ToolContext<S, Config, C, P, Args>, next: NextFor<ToolResult>): Awaitable<ToolResultInput>
}

/** What a layer is and where it belongs, for the order check. `inside` and `outside` take names or categories. */
export interface LayerOrder {
  /** Such as `retries`, `meters`, `caches`, `redacts`, `authorizes`. */
  is?: readonly string[]
  /** The scopes of which all this is said; its hooks in others may stand anywhere. @default all that it hooks */
  scopes?: readonly ScopeName[]
  inside?: readonly string[]
  outside?: readonly string[]
}

interface LayerFields {
  /** Unique in an agent; state keys and events begin with it. */
  name: string
  /** Tools that come with the layer. */
  tools?: readonly AnyTool[]
  provides?: readonly Capability<unknown>[]
  requires?: readonly Capability<unknown>[]
  order?: LayerOrder
  /** Its model and tool hooks sit right around the core, below all other layers. @default false */
  innermost?: boolean
  /** Its model and tool hooks may call next() again after next() succeeded. @default false */
  reenters?: boolean
  /** Sub-agents run it too. @default false */
  inherit?: boolean
  /**
   * Tells of which tools its tool hook must see every call. `init()` refuses such a tool where the provider runs it, since
   * no layer sees those calls. @default none
   */
  guards?(tool: string): boolean
  /**
   * Says why an agent may not have a tool, if it may not: `init()` refuses it then, in the agent and, where the layer is
   * inherited, in its sub-agents. For layers with a tool hook. @default all may be had
   */
  admits?(tool: AnyTool): string | undefined
  /**
   * How the owner of a session reads a text that was stored: what `ctx.onShow()` does to the stream of a run, for those who
   * read it later. Asked each time a history or a stored answer is shown. @default as it is stored
   */
  shows?(ctx: DisplayContext): Awaitable<DisplayTransform | undefined>
  /** Only for the type: a function, which has a name too, is no layer. A factory is called: `.use(budget({ … }))`. */
  readonly apply?: never
  /** Wraps the turn, model and tool hooks of all other layers, and the core's place, when the onion is compiled: for traces and timings. */
  wrapHooks?(hook: HookInfo): HookRun
}

/** A hook of another layer, as a layer that wraps hooks gets it. */
export interface HookInfo {
  /** The layer's name; undefined for the core, which the innermost next() runs. */
  readonly layer: string | undefined
  readonly scope: ScopeName
  readonly run: HookRun
}
export type HookRun = (ctx: never, next: (options?: NextOptions) => Promise<unknown>) => unknown

type ConfigOf<Schema> = Schema extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<Schema> : unknown

/** A layer with its state and config inferred; `defineMiddleware` and `agent.use` take it. */
export interface TypedMiddleware<
  F,
  Schema extends StandardSchemaV1 | undefined = undefined,
  C = RegisteredContext,
  P = RegisteredPrincipal,
> extends LayerFields,
    Partial<Hooks<F, ConfigOf<Schema>, C, P>> {
  state?: { [K in keyof F]: StateField<F[K]> }
  /** Any Standard Schema: `.use(layer, config)` is typed and checked by it. */
  config?: Schema
  readonly loose?: never
}

// biome-ignore lint/suspicious/noExplicitAny: the one loose type, for layers that are written without inference
type Loose = any

/** A layer without inference: state, config, arguments, context are loose inside its own hooks, and it adds nothing to the agent's state type. */
export interface Middleware extends LayerFields, Partial<Hooks<Loose, Loose, Loose, Loose, Loose>> {
  state?: Record<string, StateField<Loose>>
  config?: StandardSchemaV1
  /** Only for the type: tells a loose layer from an inferred one. */
  readonly loose?: true
}

/** Anything that turns into layers. */
export interface ToMiddleware {
  toMiddleware(): AnyMiddleware | readonly AnyMiddleware[]
}

/** A layer of either kind. */
export type AnyMiddleware = Middleware | TypedMiddleware<Loose, Loose, Loose, Loose>
type TurnHook = Hooks<Loose, Loose, Loose, Loose>['turn']
/** What `.use()` takes as one layer. */
export type Usable = AnyMiddleware | ToMiddleware | TurnHook | readonly Usable[]

/** Whether a layer was declared as plain `Middleware`, without inference. */
export type IsLoose<M> = 'loose' extends keyof M ? (true extends M['loose'] ? true : false) : false

/** The state that a layer adds. */
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
  /** Where it was given to `use()`. */
  readonly callSite?: CallSite | undefined
}

export const scopeNames: readonly ScopeName[] = ['agent', 'session', 'turn', 'model', 'tool']

/** Types a layer from its own fields: its state in `ctx.state`, its config in `ctx.config`. Adds nothing at run time. */
export function defineMiddleware<F = {}, Schema extends StandardSchemaV1 | undefined = undefined>(
  layer: TypedMiddleware<F, Schema>,
): TypedMiddleware<F, Schema> {
  return layer
}
