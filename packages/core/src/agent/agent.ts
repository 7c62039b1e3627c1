import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Onion, ScopeName } from '../compose/passage.ts'
import { AlliumError } from '../errors/allium-error.ts'
import type { AgentEvents } from '../events/events.ts'
import type { Input } from '../messages/message.ts'
import type {
  AnyMiddleware,
  Hooks,
  Layer,
  Middleware,
  StateOf,
  TypedMiddleware,
  Usable,
} from '../middleware/middleware.ts'
import { toLayers } from '../middleware/normalize.ts'
import { checkNames, checkRunLayers, compileOnion } from '../middleware/onion.ts'
import { checkOrder, type Finding } from '../middleware/order.ts'
import { AgentView } from '../scopes/agent-context.ts'
import { AgentScope } from '../scopes/agent-scope.ts'
import { Gate } from '../scopes/gate.ts'
import { SessionScope } from '../scopes/session-scope.ts'
import type { AgentRun } from '../session/agent-run.ts'
import { type RunOptions, Session, type SessionOptions } from '../session/session.ts'
import type { SessionHost } from '../session/session-host.ts'
import { declareFields, type StateField } from '../state/field.ts'
import { checkSessionId, checkValue } from './check-value.ts'
import { type Inspection, inspectLayers } from './inspect.ts'
import { type AgentOptions, toSetup } from './options.ts'

type OutputOf<Schema> = Schema extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<Schema> : unknown
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
> {
  readonly #scope: AgentScope
  readonly #host: SessionHost & { ready: boolean }
  readonly #layers: Layer[] = []
  readonly #orderCheck: 'error' | 'warn' | 'off'
  readonly #runOnions = new WeakMap<readonly Usable[], Onion>()
  readonly #open = new Set<{ close(): Promise<void> }>()
  #running = 0
  #idle: (() => void) | undefined
  #opening: Promise<void> | undefined
  #gate: Gate | undefined
  #disposing: Promise<void> | undefined

  constructor(options: AgentOptions<C, P>) {
    this.#orderCheck = options.orderCheck ?? 'error'
    this.#scope = new AgentScope(toSetup(options))
    for (const tool of options.tools ?? []) this.#scope.tools.add(tool)
    this.#host = {
      scope: this.#scope,
      init: () => this.init(),
      onionWith: (use: readonly Usable[]) => this.#onionWith(use),
      checkContext: (context: unknown) => this.#checkContext(context),
      opened: (session: { close(): Promise<void> }) => void this.#open.add(session),
      closed: (session: { close(): Promise<void> }) => void this.#open.delete(session),
      ready: false,
      started: () => void this.#running++,
      settled: () => {
        this.#running--
        if (this.#running === 0) this.#idle?.()
      },
    }
  }

  get name(): string {
    return this.#scope.setup.name
  }

  /** Adds a layer inside those before it: an object, with its config; a hook of one scope; a turn function; an array of these. */
  use<K extends ScopeName>(
    scope: K,
    hook:
      | Hooks<S, unknown, OutputOf<C>, OutputOf<P>>[K]
      | { name?: string; process: Hooks<S, unknown, OutputOf<C>, OutputOf<P>>[K] },
  ): this
  use(hook: Hooks<S, unknown, OutputOf<C>, OutputOf<P>>['turn']): this
  use<F = {}, Schema extends StandardSchemaV1 | undefined = undefined>(
    layer: TypedMiddleware<F, Schema, OutputOf<C>, OutputOf<P>>,
    ...config: ConfigArgs<Schema>
  ): Agent<S & F, C, P>
  use(layer: Middleware, config?: unknown): this
  use<M extends AnyMiddleware | readonly AnyMiddleware[]>(layer: {
    toMiddleware(): M
  }): Agent<S & StatesOf<M extends readonly unknown[] ? M : [M]>, C, P>
  use<M extends readonly Usable[]>(layers: readonly [...M]): Agent<S & StatesOf<M>, C, P>
  use(first: unknown, second?: unknown): unknown {
    if (this.#opening !== undefined)
      throw new AlliumError(
        'agent.started',
        `The agent "${this.name}" has started: use() comes before init() and the first run. For one run, give { use: [layer] } to run().`,
      )
    const added = toLayers(first, second, this.#layers.length)
    checkNames([...this.#layers, ...added])
    this.#declare(added)
    this.#layers.push(...added)
    return this
  }

  /** Runs the agent layers up to their next(). Runs call it by themselves; after a failure it may be tried again. */
  init(): Promise<void> {
    if (this.#disposing !== undefined)
      return Promise.reject(new AlliumError('agent.disposed', `The agent "${this.name}" is disposed. Make a new one.`))
    this.#opening ??= this.#init().catch((error) => {
      this.#opening = undefined
      throw error
    })
    return this.#opening
  }

  /** Waits for what runs, closes the sessions that have layers, then runs the rest of the agent layers. */
  dispose(): Promise<void> {
    this.#disposing ??= this.#dispose()
    return this.#disposing
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose()
  }

  /** A conversation. Its layers open at its first run. @throws AlliumError `session.invalid_id`, `session.principal` */
  session(options: SessionOptions<OutputOf<C>, OutputOf<P>> = {}): Session<S, OutputOf<C>> {
    const { setup } = this.#scope
    const { id, principal, context, metadata, busy = setup.busy } = options
    const scope = new SessionScope(
      this.#scope,
      id === undefined ? setup.ids() : checkSessionId(id),
      checkValue(setup.principal, principal, 'principal', 'session.principal'),
      context === undefined ? undefined : this.#checkContext(context),
      metadata,
      id === undefined,
    )
    return new Session(this.#host, scope, busy)
  }

  /** One turn in a session of its own, which is closed after it. */
  run(
    input: Input,
    { session: of, ...options }: RunOptions<OutputOf<C>> & { session?: SessionOptions<OutputOf<C>, OutputOf<P>> } = {},
  ): AgentRun<S> {
    const session = this.session(of)
    const run = session.run(input, options)
    run
      .settled()
      .then(() => session.close())
      .catch((error) => this.#scope.setup.logger.error('A session layer failed while closing.', { error }))
    return run
  }

  /** Listens beside the path: what the listener does or throws changes nothing in a run. */
  on<N extends keyof AgentEvents>(name: N, listener: (event: AgentEvents[N]) => unknown): this
  on<N extends string>(
    name: N extends keyof AgentEvents ? never : N,
    listener: (event: Record<string, unknown>) => unknown,
  ): this
  on(name: string, listener: (event: never) => unknown): this {
    this.#scope.observers.on(name, listener)
    return this
  }
  /** Listens to the next event of a name alone. */
  once<N extends keyof AgentEvents>(name: N, listener: (event: AgentEvents[N]) => unknown): this {
    this.#scope.observers.once(name, listener)
    return this
  }
  off<N extends keyof AgentEvents>(name: N, listener: (event: AgentEvents[N]) => unknown): this {
    this.#scope.observers.off(name, listener)
    return this
  }

  /** The onion as data: what hooks what, in which order. */
  inspect(): Inspection {
    return inspectLayers(this.name, this.#layers)
  }
  /** Every wrong order of layers, with the reason and the right one. */
  check(): Finding[] {
    return checkOrder(this.#layers)
  }

  #checkContext(context: unknown): unknown {
    return checkValue(this.#scope.setup.context, context, 'context', 'run.options')
  }

  /** Takes the state fields and tools of new layers, all or none. */
  #declare(added: readonly Layer[]): void {
    const { fields, tools } = this.#scope
    const all = new Map(fields)
    for (const { name, spec } of added)
      if (spec.state !== undefined) declareFields(all, name, spec.state as Record<string, StateField<unknown>>)
    const mark = tools.mark()
    try {
      for (const { spec } of added) for (const tool of spec.tools ?? []) tools.add(tool)
    } catch (error) {
      tools.rewind(mark)
      throw error
    }
    for (const [key, field] of all) fields.set(key, field)
  }

  #onionWith(use: readonly Usable[]): Onion {
    let onion = this.#runOnions.get(use)
    if (onion === undefined) {
      const layers = toLayers(use, undefined, this.#layers.length)
      checkRunLayers(layers, this.#layers)
      this.#runOnions.set(use, (onion = compileOnion(this.#layers, layers)))
    }
    return onion
  }

  async #init(): Promise<void> {
    this.#checkOrder()
    const scope = this.#scope
    scope.onion = compileOnion(this.#layers)
    const gate = new Gate('agent', scope.onion.agent, (frame) => new AgentView(frame, scope))
    const mark = scope.tools.mark()
    scope.opening = true
    try {
      await gate.open()
    } catch (error) {
      scope.tools.rewind(mark)
      throw error
    } finally {
      scope.opening = false
    }
    this.#gate = gate
    this.#host.ready = true
    this.#tell('agent:start')
  }

  #checkOrder(): void {
    if (this.#orderCheck === 'off') return
    const findings = this.check()
    const errors = this.#orderCheck === 'error' ? findings.filter(({ severity }) => severity === 'error') : []
    for (const finding of findings)
      if (!errors.includes(finding)) this.#scope.setup.logger.warn(finding.message, { layers: finding.layers })
    if (errors.length > 0)
      throw new AlliumError('layer.order', errors.map(({ message }) => message).join('\n'), {
        details: { findings: errors },
      })
  }

  async #dispose(): Promise<void> {
    const opened = await this.#opening?.then(
      () => true,
      () => false,
    )
    if (this.#running > 0) await new Promise<void>((resolve) => (this.#idle = resolve))
    const failures: unknown[] = []
    for (const session of [...this.#open].reverse())
      await session.close().catch((error: unknown) => failures.push(error))
    await this.#gate?.shut().catch((error: unknown) => failures.push(error))
    if (opened === true) this.#tell('agent:end')
    if (failures.length > 0) throw failures[0]
  }

  #tell(type: 'agent:start' | 'agent:end'): void {
    const { observers } = this.#scope
    if (observers.has(type)) observers.emit(type, { type, agent: this.name })
  }
}
