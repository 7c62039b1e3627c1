import type { Ring } from '../onion/attempt.ts'
import { SessionAttempt } from '../rings/session/context.ts'
import { Gate } from '../rings/session/gate.ts'
import type { SessionScope } from '../rings/session/session-scope.ts'
import type { SessionHost } from './session-host.ts'

/** The onion of a session: open from the first run, or open(), to close(). */
export class Opening {
  ready = false
  readonly #host: SessionHost
  readonly #scope: SessionScope
  readonly #session: { close(): Promise<void> }
  #gate: Gate | undefined
  #opening: Promise<void> | undefined

  constructor(host: SessionHost, scope: SessionScope, session: { close(): Promise<void> }) {
    this.#host = host
    this.#scope = scope
    this.#session = session
  }

  /** After a failure it may be tried again. */
  open(): Promise<void> {
    this.#opening ??= this.#open().catch((error) => {
      this.#opening = undefined
      throw error
    })
    return this.#opening
  }

  /** Opens without waiting, where there is nothing to wait for; tells whether it is open. */
  openAtOnce(): boolean {
    if (this.ready) return true
    if (!this.#host.ready || this.#opening !== undefined || this.#scope.agent.onion.session.length > 0) return false
    this.#opened()
    return true
  }

  /** Runs the rest of every session layer. */
  async shut(): Promise<void> {
    try {
      await this.#gate?.shut()
    } finally {
      this.#host.closed(this.#session)
    }
    if (this.ready) this.#tell('session:end')
  }

  async #open(): Promise<void> {
    await this.#host.init()
    const hooks = this.#scope.agent.onion.session
    if (hooks.length > 0) {
      await this.#openGate(new Gate('session', hooks, this.#scope, openSession))
      this.#host.opened(this.#session)
    }
    this.#opened()
  }

  async #openGate(gate: Gate): Promise<void> {
    const scope = this.#scope
    scope.opening = true
    scope.keepers = undefined
    try {
      await gate.open()
    } finally {
      scope.opening = false
    }
    this.#gate = gate
  }

  #opened(): void {
    if (this.ready) return
    this.ready = true
    this.#tell('session:start')
  }

  #tell(type: 'session:start' | 'session:end'): void {
    const { agent, id } = this.#scope
    if (agent.observers.has(type)) agent.observers.emit(type, { type, sessionId: id })
  }
}

const openSession: Ring['open'] = (call, caller, number, cancel) =>
  new SessionAttempt(call, caller, caller === undefined ? 0 : caller.$index + 1, number, cancel)
