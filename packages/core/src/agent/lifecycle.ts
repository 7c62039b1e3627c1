import { AlliumError } from '../errors/allium-error.ts'
import { describe } from '../errors/describe.ts'
import type { Layer, Middleware, Usable } from '../middleware/middleware.ts'
import { compileOnion, wrapOnion } from '../middleware/onion.ts'
import type { Ring } from '../onion/attempt.ts'
import type { Onion } from '../onion/hook.ts'
import type { AgentScope } from '../rings/agent/agent-scope.ts'
import { AgentAttempt } from '../rings/agent/context.ts'
import { Gate } from '../rings/session/gate.ts'
import { RunKeys } from '../session/run-keys.ts'
import type { Abortable, SessionHost } from '../session/session-host.ts'
import { checkSessionId, checkValue } from './check-value.ts'
import type { LayerStack, OrderCheck } from './layer-stack.ts'
import { checkSubAgents } from './sub-agents.ts'

type Closable = { close(): Promise<void> }

/** An agent from its first init() to dispose(): the host of its sessions. */
export class Lifecycle implements SessionHost {
  ready = false
  readonly keys = new RunKeys()
  readonly #stack: LayerStack
  readonly #orderCheck: OrderCheck
  /** Sessions that have layers, and so must be closed. */
  readonly #open = new Set<Closable>()
  /** In no order. A Set would make a table anew for each run, and V8 keeps what old tables lead to. */
  readonly #running: Abortable[] = []
  #idle: (() => void) | undefined
  #opening: Promise<void> | undefined
  #gate: Gate | undefined
  #disposing: Promise<void> | undefined

  constructor(
    readonly scope: AgentScope,
    stack: LayerStack,
    orderCheck: OrderCheck,
  ) {
    this.#stack = stack
    this.#orderCheck = orderCheck
  }

  get begun(): boolean {
    return this.#opening !== undefined
  }

  init(): Promise<void> {
    if (this.#disposing !== undefined) return Promise.reject(this.#disposed())
    this.#opening ??= this.#init().catch((error) => {
      this.#opening = undefined
      throw error
    })
    return this.#opening
  }

  /** With a timeout, what still runs by then is aborted. A second call may bring one. */
  dispose(timeout?: number): Promise<void> {
    if (timeout !== undefined && !(timeout >= 0)) return Promise.reject(noTimeout(timeout))
    this.ready = false
    this.#disposing ??= this.#dispose()
    if (timeout === undefined) return this.#disposing
    const disarm = this.scope.setup.clock.after(timeout, () => this.#abortAll(timeout))
    return this.#disposing.finally(disarm)
  }

  #abortAll(timeout: number): void {
    for (const run of [...this.#running])
      run.abort(`the agent was disposed, and the run took longer than ${timeout} ms`)
  }

  onionWith(use: readonly Usable[] | undefined, inner?: Middleware): Onion {
    return this.#stack.with(use, inner)
  }
  checkContext(context: unknown): unknown {
    return checkValue(this.scope.setup.context, context, 'context', 'run.options')
  }
  checkPrincipal(principal: unknown): unknown {
    return checkValue(this.scope.setup.principal, principal, 'principal', 'session.principal')
  }
  checkSessionId(id: unknown): string {
    return checkSessionId(id)
  }
  opened(session: Closable): void {
    this.#open.add(session)
  }
  closed(session: Closable): void {
    this.#open.delete(session)
  }
  started(run: Abortable): void {
    run.place = this.#running.length
    this.#running.push(run)
  }
  settled(run: Abortable): void {
    const last = this.#running.pop()
    if (last !== undefined && last !== run) {
      last.place = run.place
      this.#running[run.place] = last
    }
    if (this.#running.length === 0) this.#idle?.()
  }
  get keeper(): string | undefined {
    const keeps = ({ spec }: Layer) => spec.session !== undefined && spec.order?.is?.includes('keepers') === true
    return this.#stack.layers.find(keeps)?.name
  }
  /** Why a run may not start now, if it may not. */
  refusal(): AlliumError | undefined {
    return this.#disposing === undefined ? undefined : this.#disposed()
  }

  async #init(): Promise<void> {
    const { scope } = this
    this.#stack.checkOrder(this.#orderCheck)
    scope.onion = wrapOnion(compileOnion(this.#stack.layers), this.#stack.layers)
    const gate = new Gate('agent', scope.onion.agent, scope, openAgent)
    const mark = scope.tools.mark()
    scope.opening = true
    try {
      scope.tools.guardedBy(scope.onion.tool)
      await gate.open()
      await checkSubAgents(
        scope,
        scope.onion.tool.filter(({ inherit }) => inherit === true),
      ).catch(async (error) => {
        await gate.shut().catch(() => {})
        throw error
      })
    } catch (error) {
      scope.tools.rewind(mark)
      throw error
    } finally {
      scope.opening = false
    }
    this.#gate = gate
    this.ready = this.#disposing === undefined
    this.#tell('agent:start')
  }

  async #dispose(): Promise<void> {
    const opened = await this.#opening?.then(
      () => true,
      () => false,
    )
    if (this.#running.length > 0) await new Promise<void>((resolve) => (this.#idle = resolve))
    const failures: unknown[] = []
    for (const session of [...this.#open].reverse()) await session.close().catch((error) => failures.push(error))
    await this.#gate?.shut().catch((error) => failures.push(error))
    if (opened === true) this.#tell('agent:end')
    if (failures.length > 0) throw failures[0]
  }

  #tell(type: 'agent:start' | 'agent:end'): void {
    const { observers, setup } = this.scope
    if (observers.has(type)) observers.emit(type, { type, agent: setup.name })
  }

  #disposed(): AlliumError {
    return new AlliumError('agent.disposed', `The agent "${this.scope.setup.name}" is disposed. Make a new one.`)
  }
}

const openAgent: Ring['open'] = (call, caller, number, cancel) => new AgentAttempt(call, caller, number, cancel)

function noTimeout(value: unknown): AlliumError {
  const what = `dispose({ timeout }) takes a number of milliseconds, 0 or more, but ${describe(value)} was given.`
  return new AlliumError('agent.options', what)
}
