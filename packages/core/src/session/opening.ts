import { messageOf } from '../errors/describe.ts'
import { equalJson } from '../messages/json.ts'
import type { Cancel } from '../onion/cancel.ts'
import { entryOf } from '../turn/stored-turn.ts'
import { AbortableWaits } from './abortable-waits.ts'
import { aroundRun } from './around-run.ts'
import { SessionAttempt } from './scope/context.ts'
import { ScopeLifecycle } from './scope/scope-lifecycle.ts'
import type { SessionScope } from './scope/session-scope.ts'
import type { SessionHost } from './session-host.ts'
import { SharedWork } from './shared-work.ts'

/**
 * The onion of a session. It is open from open(), or the first run, to close(). If it has layers, it closes after
 * `sessionIdleTimeout` without activity, and opens again when needed. Otherwise a session that is never closed would stay in
 * the agent forever.
 */
export class Opening {
  ready = false
  /** Whether it has ever been open. */
  reached = false
  /** Runs before the layers, once. Loads the snapshot of a fork and returns a function that restores it. */
  before: (() => Promise<() => void>) | undefined
  readonly #host: SessionHost
  readonly #scope: SessionScope
  readonly #session: { close(): Promise<void> }
  #lifecycle: SessionLayers | undefined
  #startedWork: SharedWork | undefined
  #closing: Promise<void> | undefined
  #disarm: (() => void) | undefined

  constructor(host: SessionHost, scope: SessionScope, session: { close(): Promise<void> }) {
    this.#host = host
    this.#scope = scope
    this.#session = session
  }

  /** The work of opening. A session without layers needs none. */
  get #work(): SharedWork {
    return (this.#startedWork ??= new SharedWork(
      (waits, done) => this.#open(waits, done),
      (error) => this.#scope.report(error, 'session:start'),
    ))
  }

  /**
   * Opens the session. After a failure it can be called again. @param by cancels this wait. When the last caller has
   * cancelled, the opening is abandoned.
   */
  open(by?: Cancel): Promise<void> {
    return this.ready ? Promise.resolve() : this.#work.join(by)
  }

  /** Opens synchronously if there is nothing to wait for. Returns whether it is open. */
  openAtOnce(): boolean {
    if (this.ready) return true
    if (
      !this.#host.ready ||
      this.#startedWork?.promise !== undefined ||
      this.before !== undefined ||
      this.#scope.agent.onion.session.length > 0
    )
      return false
    this.#opened()
    return true
  }

  /** Stops the idle timer, because there is activity. */
  wake(): void {
    this.#disarm?.()
    this.#disarm = undefined
  }

  /** Starts the idle timer, because the activity has ended. */
  startIdleTimer(): void {
    this.wake()
    const { clock, sessionIdleTimeout } = this.#scope.agent.setup
    if (sessionIdleTimeout === false || this.#lifecycle === undefined) return
    this.#disarm = clock.after(sessionIdleTimeout, () => this.#closeIdle(), { idle: true })
  }

  /** Runs the rest of every session layer, after its next(). */
  close(): Promise<void> {
    this.wake()
    return (this.#closing ??= this.#close().finally(() => (this.#closing = undefined)))
  }

  async #close(): Promise<void> {
    const wasReady = this.ready
    const opening = this.#work.promise
    this.#work.forget()
    this.ready = false
    if (!wasReady) await opening?.catch(() => {})
    const ready = wasReady || this.ready
    const lifecycle = this.#lifecycle
    this.ready = false
    this.#lifecycle = undefined
    const keeps = lifecycle === undefined ? undefined : closing(this.#scope)
    try {
      await lifecycle?.close()
      await keeps?.()
    } finally {
      this.#host.closed(this.#session)
    }
    if (ready) this.#tell('session:end')
    this.#scope.agent.observers.leave(this.#scope)
  }

  #closeIdle(): void {
    const { agent, id } = this.#scope
    this.close().catch((error) =>
      agent.setup.logger.error(`A layer of the idle session "${id}" failed while closing: ${messageOf(error)}`, {
        error,
      }),
    )
  }

  async #open(waits: AbortableWaits, done: () => void): Promise<void> {
    if (this.#closing !== undefined) await waits.until(this.#closing.catch(() => {}))
    await this.#host.init(waits.cancel)
    if (this.before !== undefined) (await waits.until(this.before()))()
    this.before = undefined
    if (this.#scope.agent.onion.session.length > 0) await this.#openLifecycle(waits)
    done()
    this.#opened()
  }

  async #openLifecycle({ cancel }: AbortableWaits): Promise<void> {
    const scope = this.#scope
    const { session } = scope.agent.onion
    const lifecycle = new ScopeLifecycle('session', session, scope, openSession, (error) =>
      scope.report(error, 'session:start'),
    )
    scope.opening = true
    scope.registered = {}
    try {
      await lifecycle.open(cancel)
    } finally {
      scope.opening = false
    }
    try {
      this.#host.opened(this.#session)
    } catch (error) {
      await lifecycle.close()
      throw error
    }
    this.#lifecycle = lifecycle
  }

  #opened(): void {
    if (this.ready) return
    this.ready = this.reached = true
    this.#tell('session:start')
  }

  #tell(type: 'session:start' | 'session:end'): void {
    const { agent, id } = this.#scope
    if (agent.observers.events.has(type)) agent.observers.emit(type, { type, sessionId: id })
  }
}

type SessionLayers = ScopeLifecycle<SessionAttempt, SessionScope>

const openSession: SessionLayers['ring']['create'] = (call, caller, number, cancel) =>
  new SessionAttempt(call, caller, number, cancel)

/**
 * Returns a function to call after the session layers have closed. It stores the state and messages that they still
 * wrote, as an entry with the status `closed`. Undefined if nothing wraps the session's runs.
 */
function closing(scope: SessionScope): (() => Promise<void>) | undefined {
  if (scope.registered.aroundRun === undefined) return undefined
  const before = scope.state.persistent()
  const { items } = scope.history
  const { length } = items
  return async () => {
    if (items.length === length && equalJson(before, scope.state.persistent())) return
    const waits = new AbortableWaits((error) => scope.report(error, 'session:end'))
    const change = async () => entryOf(scope, 'closed', Math.min(scope.stored, items.length))
    scope.markStored(await aroundRun(scope, 'close', change, { waits }))
  }
}
