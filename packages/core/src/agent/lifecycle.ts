import { toAbortError } from '../errors/abort-error.ts'
import { AlliumError } from '../errors/allium-error.ts'
import { checkSchema } from '../errors/check-schema.ts'
import { describe } from '../errors/describe.ts'
import type { DisplayTransform, Middleware, Usable } from '../middleware/middleware.ts'
import { compileOnion, storesSession, wrapOnion } from '../middleware/onion.ts'
import type { Cancel } from '../onion/cancel.ts'
import type { Onion } from '../onion/hook.ts'
import type { SessionKey } from '../ports/session-store.ts'
import { operators } from '../ports/tenant.ts'
import type { AbortableWaits } from '../session/abortable-waits.ts'
import { RunKeys } from '../session/run-keys.ts'
import { ScopeLifecycle } from '../session/scope/scope-lifecycle.ts'
import type { Abortable, SessionHost } from '../session/session-host.ts'
import { SharedWork } from '../session/shared-work.ts'
import { checkPrincipal, checkSessionId } from './check-value.ts'
import type { LayerStack, OrderCheck } from './layer-stack.ts'
import type { AgentScope } from './scope/agent-scope.ts'
import { AgentAttempt, type AgentCall } from './scope/context.ts'
import { checkSubAgents } from './sub-agents.ts'

type Closable = { close(): Promise<void> }

/** The lifecycle of an agent from its first init() to dispose(). It hosts the agent's sessions. */
export class Lifecycle implements SessionHost {
  ready = false
  readonly keys = new RunKeys()
  readonly #stack: LayerStack
  readonly #orderCheck: OrderCheck
  /** Sessions with open layers, which must be closed. */
  readonly #open = new Set<Closable>()
  /** Unordered. A Set would allocate a new table for each run, and V8 retains the objects that old tables refer to. */
  readonly #running: Abortable[] = []
  #idle: (() => void) | undefined
  /** Whether the last run has ended and no session may open any more. */
  #drained = false
  readonly #work: SharedWork
  #gate: AgentLayers | undefined
  #disposing: Promise<void> | undefined

  constructor(
    readonly scope: AgentScope,
    stack: LayerStack,
    orderCheck: OrderCheck,
  ) {
    this.#stack = stack
    this.#orderCheck = orderCheck
    this.#work = new SharedWork(
      (waits, done) => this.#init(waits, done),
      (error) => scope.report(error, 'agent:start'),
    )
  }

  get begun(): boolean {
    return this.#work.promise !== undefined
  }

  init(by?: Cancel): Promise<void> {
    return this.#disposing === undefined ? this.#work.join(by) : Promise.reject(this.#disposed())
  }

  /** After the timeout, it aborts the remaining runs, and later abandons those that do not end. A second call may set a timeout. */
  dispose(timeout?: number): Promise<void> {
    if (timeout !== undefined && !(timeout >= 0)) return Promise.reject(noTimeout(timeout))
    this.ready = false
    this.#disposing ??= this.#dispose()
    if (timeout === undefined) return this.#disposing
    const { clock, gracePeriod } = this.scope.setup
    const disposing = this.#disposing
    return new Promise((resolve, reject) => {
      let disarm = clock.after(timeout, () => {
        this.#abortAll(timeout)
        disarm = clock.after(3 * gracePeriod, () => resolve(this.#leave()))
      })
      disposing.finally(() => disarm()).then(resolve, reject)
    })
  }

  #abortAll(timeout: number): void {
    const reason = `the agent was disposed, and the run took longer than ${timeout} ms`
    for (const run of [...this.#running]) run.abort(reason)
    this.#work.abandon(toAbortError(reason))
  }

  /** Resolves dispose() although a layer does not close or a store does not answer, so that the process can exit. */
  #leave(): void {
    const { logger, name } = this.scope.setup
    logger.warn(`dispose() of the agent "${name}" timed out: a layer or a store is still running.`)
  }

  onionWith(use: readonly Usable[] | undefined, inner?: Middleware): Onion {
    return this.#stack.with(use, inner)
  }
  displayFor(key: SessionKey): Promise<DisplayTransform> {
    return this.#stack.displayTransform(key)
  }
  checkContext(context: unknown): unknown {
    return checkSchema(this.scope.setup.context, context, { what: 'The context', code: 'run.options' })
  }
  checkPrincipal(principal: unknown): unknown {
    if (operators.has(principal as object)) return principal
    return checkPrincipal(this.scope.setup, principal)
  }
  checkSessionId(id: unknown): string {
    return checkSessionId(id)
  }
  opened(session: Closable): void {
    if (this.#drained) throw this.#disposed()
    this.#open.add(session)
  }
  closed(session: Closable): void {
    this.#open.delete(session)
  }
  started(run: Abortable): void {
    run.position = this.#running.length
    this.#running.push(run)
  }
  settled(run: Abortable): void {
    const last = this.#running.pop()
    if (last !== undefined && last !== run) {
      last.position = run.position
      this.#running[run.position] = last
    }
    if (this.#running.length === 0) this.#idle?.()
  }
  get storageLayer(): string | undefined {
    return this.#stack.layers.find(({ spec }) => storesSession(spec))?.name
  }
  /** Returns the error if a run may not start now. */
  refusal(): AlliumError | undefined {
    return this.#disposing === undefined ? undefined : this.#disposed()
  }

  async #init(waits: AbortableWaits, done: () => void): Promise<void> {
    const { scope } = this
    this.#stack.checkOrder(this.#orderCheck)
    scope.onion = wrapOnion(compileOnion(this.#stack.layers), this.#stack.layers)
    const home = { agent: scope, clock: scope.setup.clock }
    const opened = new ScopeLifecycle('agent', scope.onion.agent, home, openAgent, (error) =>
      scope.report(error, 'agent:start'),
    )
    const savepoint = scope.tools.savepoint()
    scope.opening = true
    try {
      scope.tools.guardedBy(scope.onion.tool)
      await opened.open(waits.cancel)
      const inherited = scope.onion.tool.filter(({ inherit }) => inherit === true)
      await waits.until(checkSubAgents(scope, inherited)).catch(async (error) => {
        await waits.until(opened.close().catch(() => {}))
        throw error
      })
    } catch (error) {
      scope.tools.rollback(savepoint)
      throw error
    } finally {
      scope.opening = false
    }
    this.#gate = opened
    done()
    this.ready = this.#disposing === undefined
    this.#tell('agent:start')
  }

  async #dispose(): Promise<void> {
    const opened = await this.#work.promise?.then(
      () => true,
      () => false,
    )
    if (this.#running.length > 0) await new Promise<void>((resolve) => (this.#idle = resolve))
    this.#drained = true
    const failures: unknown[] = []
    for (const session of [...this.#open].reverse()) await session.close().catch((error) => failures.push(error))
    await this.#gate?.close().catch((error) => failures.push(error))
    if (opened === true) this.#tell('agent:end')
    if (failures.length > 0) throw failures[0]
  }

  #tell(type: 'agent:start' | 'agent:end'): void {
    const { observers, setup } = this.scope
    if (observers.events.has(type)) observers.emit(type, { type, agent: setup.name })
  }

  #disposed(): AlliumError {
    return new AlliumError('agent.disposed', `The agent "${this.scope.setup.name}" is disposed. Create a new one.`)
  }
}

type AgentLayers = ScopeLifecycle<AgentAttempt, AgentCall['home']>

const openAgent: AgentLayers['ring']['create'] = (call, caller, number, cancel) =>
  new AgentAttempt(call, caller, number, cancel)

function noTimeout(value: unknown): AlliumError {
  const what = `dispose({ timeout }) takes a number of milliseconds, 0 or more, not ${describe(value)}.`
  return new AlliumError('agent.options', what)
}
