import type { StandardSchemaV1 } from '@standard-schema/spec'
import { AlliumError } from '../errors/allium-error.ts'
import { callSiteOf } from '../errors/call-site.ts'
import { checkOptions } from '../errors/known-options.ts'
import type { AgentEvents } from '../events/events.ts'
import type { Input } from '../messages/message.ts'
import type {
  AnyMiddleware,
  DisplayTransform,
  Hooks,
  IsLoose,
  Middleware,
  StateOf,
  TypedMiddleware,
  Usable,
} from '../middleware/middleware.ts'
import type { Finding } from '../middleware/order.ts'
import type { ScopeName } from '../onion/hook.ts'
import type { OutputOf, OutputOption } from '../output/option.ts'
import type { RegisteredContext, RegisteredPrincipal } from '../ports/register.ts'
import type { SessionKey } from '../ports/session-store.ts'
import type { AgentRun } from '../session/agent-run.ts'
import { checkSessionOptions, type RunOptions, type SessionOptions } from '../session/options.ts'
import { SessionScope } from '../session/scope/session-scope.ts'
import { Session } from '../session/session.ts'
import type { CallTypes } from '../tool/call-record.ts'
import { ToolAttempt } from '../tool/scope/context.ts'
import type { RunResult } from '../turn/run-result.ts'
import { checkPlace, checkPrincipal, checkSessionId } from './check-value.ts'
import { type Inspection, inspectLayers } from './inspect.ts'
import { LayerStack } from './layer-stack.ts'
import { Lifecycle } from './lifecycle.ts'
import { type AgentOptions, checkAgentOptions, toSetup } from './options.ts'
import { AgentScope } from './scope/agent-scope.ts'
import { layerOf } from './scope/context.ts'
import { introduce } from './sub-agents.ts'

declare global {
  /** Same as in `esnext.disposable`, for applications that compile without that library. */
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol
  }
}

const ofDispose = { timeout: true } as const

/** The output type of a schema, or the application's registered type without one. */
type SchemaOutput<Schema, Registered> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Schema>
  : Registered
type ContextOf<Schema> = SchemaOutput<Schema, RegisteredContext>
type PrincipalOf<Schema> = SchemaOutput<Schema, RegisteredPrincipal>
type UnionToIntersection<U> = (U extends unknown ? (x: U) => void : never) extends (x: infer I) => void ? I : never
type StatesOf<M> = M extends readonly unknown[] ? UnionToIntersection<{ [I in keyof M]: StateOf<M[I]> }[number]> : {}
type ConfigArgs<Schema> = Schema extends StandardSchemaV1
  ? undefined extends StandardSchemaV1.InferInput<Schema>
    ? [config?: StandardSchemaV1.InferInput<Schema>]
    : [config: StandardSchemaV1.InferInput<Schema>]
  : [config?: unknown]

/**
 * An agent: a model, its tools, and the layers around them. One agent serves many sessions.
 *
 * @example
 * const agent = new Agent({ model }).use(model.retry()).use(observe.usage())
 * const { text } = await agent.run('Hello')
 */
export class Agent<
  S = {},
  C extends StandardSchemaV1 | undefined = undefined,
  P extends StandardSchemaV1 | undefined = undefined,
  Calls extends readonly CallTypes[] = readonly CallTypes[],
> {
  readonly #scope: AgentScope
  readonly #stack: LayerStack
  readonly #life: Lifecycle

  constructor(given: AgentOptions<C, P, Calls>) {
    const options = given ?? {}
    checkAgentOptions(options)
    this.#scope = new AgentScope(toSetup(options))
    this.#stack = new LayerStack(this.#scope)
    this.#life = new Lifecycle(this.#scope, this.#stack, options.orderCheck ?? 'error')
    for (const tool of options.tools ?? []) this.#scope.tools.add(tool)
    introduce(this, { scope: this.#scope, begun: () => this.#life.begun, init: () => this.init() })
  }

  get name(): string {
    return this.#scope.setup.name
  }

  /** Its former names. See the option of this name. */
  get formerNames(): readonly string[] {
    return this.#scope.setup.formerNames
  }

  /** Agents with the same group share the history of their sessions. */
  get sessionGroup(): string | undefined {
    return this.#scope.setup.sessionGroup
  }

  /** The names under which its sessions may be stored: first the current one (`session.key.agent`), then earlier ones. */
  get sessionNames(): readonly string[] {
    return this.#scope.sessionNames
  }

  /** The version of its code. See the option of this name. */
  get version(): string | undefined {
    return this.#scope.setup.version
  }

  /** Adds a layer inside those before it: an object with its config, a hook of one scope, a turn function, or an array of these. */
  use<Scope extends ScopeName>(
    scope: Scope,
    hook:
      | Hooks<S, unknown, ContextOf<C>, PrincipalOf<P>>[Scope]
      | { name?: string; process: Hooks<S, unknown, ContextOf<C>, PrincipalOf<P>>[Scope] },
  ): this
  use(hook: Hooks<S, unknown, ContextOf<C>, PrincipalOf<P>>['turn']): this
  use<F = {}, Schema extends StandardSchemaV1 | undefined = undefined>(
    layer: TypedMiddleware<F, Schema, ContextOf<C>, PrincipalOf<P>>,
    ...config: ConfigArgs<Schema>
  ): Agent<S & F, C, P, Calls>
  use<M extends Middleware>(layer: M & (IsLoose<M> extends true ? unknown : never), config?: unknown): this
  use<M extends AnyMiddleware | readonly AnyMiddleware[]>(layer: {
    toMiddleware(): M
  }): Agent<S & StatesOf<M extends readonly unknown[] ? M : [M]>, C, P, Calls>
  use<M extends readonly Usable[]>(layers: readonly [...M]): Agent<S & StatesOf<M>, C, P, Calls>
  // Repeated: if no overload matches, TypeScript reports the last one, and most mistakes are in objects. Also first, for fast type checks.
  use<F = {}, Schema extends StandardSchemaV1 | undefined = undefined>(
    layer: TypedMiddleware<F, Schema, ContextOf<C>, PrincipalOf<P>>,
    ...config: ConfigArgs<Schema>
  ): Agent<S & F, C, P, Calls>
  use(first: unknown, second?: unknown): unknown {
    if (this.#life.begun)
      throw new AlliumError(
        'agent.started',
        `The agent "${this.name}" has started: call use() before init() and the first run. For one run, give { use: [layer] } to run().`,
      )
    this.#stack.add(first, second, callSiteOf(this.use))
    return this
  }

  /** Runs the agent layers up to their next(). A run calls it automatically. After a failure it can be called again. */
  init(): Promise<void> {
    return this.#life.init()
  }

  /**
   * Waits for the current runs, closes the sessions that have layers, then runs the rest of the agent layers.
   *
   * @param options.timeout milliseconds after which the remaining runs are aborted @default never
   */
  async dispose(options: { timeout?: number | undefined } = {}): Promise<void> {
    checkOptions(options, ofDispose, 'dispose()', 'agent.options')
    return this.#life.dispose(options.timeout)
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose()
  }

  /**
   * Returns a session. Its layers open at its first run.
   *
   * @throws AlliumError `session.invalid_id`, `session.principal`, `run.options` for an unknown option
   */
  session(options: SessionOptions<ContextOf<C>, PrincipalOf<P>> = {}): Session<S, ContextOf<C>, Calls[number]> {
    return this.#session(options, this.#scope.setup.ids)
  }

  /** @param newId returns the id for a session without one */
  #session(
    options: SessionOptions<ContextOf<C>, PrincipalOf<P>>,
    newId: () => string,
  ): Session<S, ContextOf<C>, Calls[number]> {
    checkSessionOptions(options)
    const { setup } = this.#scope
    const parent =
      options.parent === undefined ? undefined : layerOf('session({ parent })', options.parent, ToolAttempt)
    const parentTurn = parent?.$turn
    const { id = parentTurn && `${parentTurn.turnId}/${parent?.$call.callId}`, metadata } = options
    const { onBusy = setup.onBusy } = options
    const { principal = parentTurn?.session.principal, context = parentTurn?.options.context } = options
    const scope = new SessionScope(
      this.#scope,
      id === undefined ? newId() : checkSessionId(id),
      checkPrincipal(setup, principal),
      context === undefined ? undefined : this.#life.checkContext(context),
      metadata,
      id === undefined || (parent !== undefined && options.id === undefined),
      parent,
    )
    checkPlace(scope)
    return new Session(this.#life, scope, onBusy)
  }

  /** Runs one turn in a new session, and closes the session after it. */
  run<O extends OutputOption | undefined = undefined>(
    input: Input,
    given: RunOptions<ContextOf<C>, O> & { session?: SessionOptions<ContextOf<C>, PrincipalOf<P>> } = {},
  ): AgentRun<S, OutputOf<NoInfer<O>>, Calls[number]> {
    const { session: of, ...options } = given ?? {}
    // A repeated turn id gets the same session.
    const { turnId } = options
    const session = this.#session(of ?? {}, () => turnId ?? this.#scope.setup.ids())
    const run = session.run(input, options as RunOptions<ContextOf<C>, O>)
    run
      .settled()
      .then(() => session.close())
      .catch((error) => this.#scope.setup.logger.error('A session layer failed while closing.', { error }))
    return run
  }

  /**
   * Returns the transform from stored texts to the texts that the session's owner sees. The layers change histories and stored
   * answers in the same way as the stream of a run.
   *
   * @example
   * const show = await agent.displayFor(session.key)
   */
  async displayFor(key: SessionKey): Promise<DisplayTransform> {
    await this.init()
    return this.#life.displayFor(key)
  }

  /** Adds an observer. Its errors and return values never affect a run. */
  on<N extends keyof AgentEvents>(name: N, listener: (event: AgentEvents[N]) => unknown): this
  on<N extends string>(
    name: N extends keyof AgentEvents ? never : N,
    listener: (event: Record<string, unknown>) => unknown,
  ): this
  on(name: string, listener: (event: never) => unknown): this {
    this.#scope.observers.on(name, listener)
    return this
  }
  /** Adds an observer for the next event of this name only. */
  once<N extends keyof AgentEvents>(name: N, listener: (event: AgentEvents[N]) => unknown): this {
    this.#scope.observers.once(name, listener)
    return this
  }
  off<N extends keyof AgentEvents>(name: N, listener: (event: AgentEvents[N]) => unknown): this {
    this.#scope.observers.off(name, listener)
    return this
  }

  /** Returns the onion as data: the layers, their scopes and their order, and the tools. */
  inspect(): Inspection {
    const approvers = this.#scope.setup.approvals.canApprove === undefined ? 'owner' : 'rule'
    return inspectLayers({ agent: this.name, approvers }, this.#scope.tools.defs, this.#stack.layers)
  }
  /** Returns every wrong order of layers with its reason and fix, and every layer that would miss calls of a tool that it guards. */
  check(): Finding[] {
    return this.#stack.findings()
  }
}

/** The result type of an agent's runs: `ResultOf<typeof agent>`. */
export type ResultOf<A> = A extends { run(input: Input): AgentRun<infer S, string, infer K> }
  ? RunResult<S, string, K>
  : never
