import { describe } from '../../errors/describe.ts'
import { checkOptions } from '../../errors/known-options.ts'
import type { CustomEvent } from '../../events/events.ts'
import type { ReadonlyHistory } from '../../messages/history.ts'
import { cloneJson } from '../../messages/json.ts'
import type { ToolCallPart } from '../../messages/message.ts'
import type { Attempt } from '../../onion/attempt.ts'
import { layerError, nameOf } from '../../onion/misuse.ts'
import type { AroundRun, AroundStep, FindTurn } from '../../ports/around.ts'
import type { Capabilities } from '../../ports/capability.ts'
import type { RegisteredContext, RegisteredPrincipal } from '../../ports/register.ts'
import type { SessionKey } from '../../ports/session-store.ts'
import type { Snapshot } from '../../state/snapshot.ts'
import type { State, StateWrite } from '../../state/state-store.ts'
import type { AgentScope } from '../agent/agent-scope.ts'
import { AgentAttempt, type AgentContext } from '../agent/context.ts'
import type { Registered, SessionScope } from './session-scope.ts'

const ofRestore = { stored: true, askedBy: true } as const

/** Session scope: from open (or the first run) to close(). */
export interface SessionContext<S = State, Config = unknown, C = RegisteredContext, P = RegisteredPrincipal>
  extends AgentContext<Config> {
  readonly sessionId: string
  /** Whether the session was created without an id, so that no later session can continue it. */
  readonly anonymous: boolean
  /** The principal that the caller passed in. It is part of keys and limits. */
  readonly principal: P
  /** The owner of the session: the principal's user, or the result of the agent's `owner`. */
  readonly owner: string | undefined
  /** The key that the session is stored under. `sessionKeyOf(ctx)` returns it as one string. */
  readonly sessionKey: SessionKey
  /** The application's own runtime context. */
  readonly context: C
  /** The session state. Reads see earlier writes, and a write goes through the reducer of its key. */
  readonly state: S
  /** The canonical conversation, for reading and push. */
  readonly history: ReadonlyHistory
  /**
   * Restores a snapshot. Sets history and state to copies of it, without the reducers.
   *
   * @param options.stored whether it comes from the store of the session, so that it is not stored again
   * @default false
   * @param options.askedBy the agents that suspended calls, by call id, for calls whose records do not name one. Such
   * records come from versions of Allium in which sessions belonged to no agent
   * @default none: such calls can only be denied
   * @throws AlliumError `history.invalid`, `state.invalid`
   */
  restore(saved: Snapshot, options?: { stored?: boolean; askedBy?: Readonly<Record<string, string>> }): void
  /**
   * Wraps each run of the session, outside its turn: the wrapper stores the turn, holds a lease, or returns a stored
   * turn. The first layer's wrapper is the outermost. In session hooks only, before next().
   */
  aroundRun(wrapper: AroundRun): void
  /** Wraps each step of a turn, for example to store a checkpoint. In session hooks only, before next(). */
  aroundStep(wrapper: AroundStep): void
  /** Finds turns of other processes, for `fork()` and `rewind()`. In session hooks only, before next(). */
  provideTurns(find: FindTurn): void
  /** The pending tool calls of the last answer. */
  readonly pending: readonly ToolCallPart[]
  /** Sends an event to the run's stream and to observers of its type. */
  emit(event: CustomEvent): void
  /** Whether the turn resumes a suspended one. */
  readonly resumed: boolean
}

/**
 * @throws AlliumError `layer.invalid` if it is not an event. Other emitters take a name and separate data, so that is a
 * common mistake.
 */
export function checkEvent(attempt: Attempt, event: unknown): void {
  if (typeof (event as { type?: unknown } | undefined)?.type === 'string') return
  const name = typeof event === 'string' ? event : 'your:event'
  const what = `called ctx.emit() with ${describe(event)}. An event is an object: ctx.emit({ type: '${name}', … }).`
  throw layerError(attempt, 'layer.invalid', what)
}

/** An attempt of the session scope, and the context of its layer. */
export class SessionAttempt extends AgentAttempt implements SessionContext {
  $view: State | undefined = undefined

  override get $agent(): AgentScope {
    return this.$session.agent
  }
  get $session(): SessionScope {
    return (this.$call as unknown as { home: SessionScope }).home
  }

  /** The session that the layer belongs to. For an inherited layer, the parent's session. */
  get $owner(): SessionScope {
    const levelsUp = this.$hook?.levelsUp
    return levelsUp === undefined ? this.$session : this.$session.ancestor(levelsUp)
  }

  get sessionId(): string {
    return this.$owner.id
  }
  get anonymous(): boolean {
    return this.$owner.ownId
  }
  get principal(): RegisteredPrincipal {
    return this.$session.principal as RegisteredPrincipal
  }
  get owner(): string | undefined {
    return this.$owner.owner
  }
  get sessionKey(): SessionKey {
    return this.$owner.key
  }
  get context(): RegisteredContext {
    return this.$session.context as RegisteredContext
  }
  /** A separate view per layer, because a shared one could not tell which layer writes. */
  get state(): State {
    this.$view ??= this.$owner.state.viewOf(this)
    return this.$view
  }
  get history(): ReadonlyHistory {
    this.$checkOpening()
    return this.$session.history.view
  }
  get pending(): readonly ToolCallPart[] {
    return cloneJson(this.$session.history.pending())
  }
  override get metadata(): Record<string, unknown> {
    return this.$session.metadata
  }
  restore(saved: Snapshot, options: { stored?: boolean; askedBy?: Readonly<Record<string, string>> } = {}): void {
    checkOptions(options, ofRestore, 'restore()', 'layer.invalid')
    this.$checkOpening()
    const { stored = false, askedBy } = options
    this.$session.restore(saved, stored, askedBy)
  }
  aroundRun(wrapper: AroundRun): void {
    this.#register('aroundRun', wrapper)
  }
  aroundStep(wrapper: AroundStep): void {
    this.#register('aroundStep', wrapper)
  }
  provideTurns(find: FindTurn): void {
    this.#register('provideTurns', find)
  }
  #register<V extends keyof Registered>(verb: V, fn: Registered[V]): void {
    this.$checkOpening()
    const { $session, $hook } = this
    if (!$session.opening)
      throw layerError(
        this,
        'layer.invalid',
        `called ctx.${verb}() too late. Call it in a session hook, before next().`,
      )
    const registered = $session.registered as { [V in keyof Registered]?: unknown[] }
    // Errors name the layer.
    const named = Object.defineProperty(fn.bind(undefined), 'name', { value: nameOf(this) })
    registered[verb] ??= []
    registered[verb].push(named)
    $session.registered.isStored ||= $hook?.stores
  }
  emit(event: CustomEvent): void {
    checkEvent(this, event)
    const { turn, agent } = this.$session
    if (turn !== undefined) turn.send(event)
    else if (agent.observers.has(event.type)) agent.observers.emit(event.type, { ...event })
  }
  get resumed(): boolean {
    return this.$session.turn?.options.resume !== undefined
  }
  override get $capabilities(): Capabilities {
    return this.$session.capabilities
  }
  /** Called after the layer has written to the state. */
  $wrote(_key: string, _value: unknown): void {}
  /** Returns whether the layer's writes to the state are accepted. */
  $writes(_key: string): StateWrite {
    this.$checkOpening()
    return 'taken'
  }
}
