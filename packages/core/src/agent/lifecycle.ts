import { AlliumError } from '../errors/allium-error.ts'
import type { Usable } from '../middleware/middleware.ts'
import { compileOnion, wrapOnion } from '../middleware/onion.ts'
import type { Ring } from '../onion/attempt.ts'
import type { Onion } from '../onion/hook.ts'
import type { AgentScope } from '../rings/agent/agent-scope.ts'
import { AgentAttempt } from '../rings/agent/context.ts'
import { Gate } from '../rings/session/gate.ts'
import type { SessionHost } from '../session/session-host.ts'
import { checkSessionId, checkValue } from './check-value.ts'
import type { LayerStack, OrderCheck } from './layer-stack.ts'

type Closable = { close(): Promise<void> }

/** An agent from its first init() to dispose(): the host of its sessions. */
export class Lifecycle implements SessionHost {
  ready = false
  readonly #stack: LayerStack
  readonly #orderCheck: OrderCheck
  /** Sessions that have layers, and so must be closed. */
  readonly #open = new Set<Closable>()
  #running = 0
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

  dispose(): Promise<void> {
    this.ready = false
    this.#disposing ??= this.#dispose()
    return this.#disposing
  }

  onionWith(use: readonly Usable[]): Onion {
    return this.#stack.with(use)
  }
  checkContext(context: unknown): unknown {
    return checkValue(this.scope.setup.context, context, 'context', 'run.options')
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
  started(): void {
    this.#running++
  }
  settled(): void {
    this.#running--
    if (this.#running === 0) this.#idle?.()
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
      await gate.open()
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
    if (this.#running > 0) await new Promise<void>((resolve) => (this.#idle = resolve))
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

const openAgent: Ring['open'] = (call, caller, number, cancel) =>
  new AgentAttempt(call, caller, caller === undefined ? 0 : caller.$index + 1, number, cancel)
