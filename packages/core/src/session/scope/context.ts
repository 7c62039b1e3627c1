import { AgentAttempt, type AgentCall, layerOf } from '../../agent/scope/context.ts'
import type { SessionContext, SessionView } from '../../contexts/session.ts'
import { describe } from '../../errors/describe.ts'
import { checkOptions } from '../../errors/known-options.ts'
import type { CustomEvent } from '../../events/events.ts'
import type { ReadonlyHistory } from '../../messages/history.ts'
import { cloneJson } from '../../messages/json.ts'
import type { ToolCallPart } from '../../messages/message.ts'
import type { Attempt } from '../../onion/attempt.ts'
import { layerError } from '../../onion/misuse.ts'
import type { AroundRun, AroundStep, FindTurn } from '../../ports/around.ts'
import type { Capabilities } from '../../ports/capability.ts'
import type { RegisteredContext, RegisteredPrincipal } from '../../ports/register.ts'
import type { SessionKey } from '../../ports/session-store.ts'
import type { Snapshot } from '../../state/snapshot.ts'
import type { State, StateWrite } from '../../state/state-store.ts'
import type { Registered, SessionScope } from './session-scope.ts'

const ofRestore = { stored: true } as const

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

/** A call through the layers of a session, in any of its scopes. */
export interface SessionCall extends AgentCall {
  readonly home: SessionScope
}

/** An attempt of the session scope, and the context of its layer. */
export class SessionAttempt<C extends SessionCall = SessionCall> extends AgentAttempt<C> implements SessionContext {
  $view: State | undefined = undefined

  get $session(): SessionScope {
    return this.$call.home
  }

  /** The session that the layer belongs to. For an inherited layer, the parent's session. */
  get $owner(): SessionScope {
    const levelsUp = this.$hook?.levelsUp
    return levelsUp === undefined ? this.$session : this.$session.ancestor(levelsUp)
  }

  get sessionId(): string {
    return this.$owner.id
  }
  get principal(): RegisteredPrincipal {
    return this.$session.principal as RegisteredPrincipal
  }
  get sessionKey(): SessionKey {
    return this.$owner.key
  }
  get context(): RegisteredContext {
    return this.$session.context as RegisteredContext
  }
  /** A separate view per layer, because a shared one could not tell which layer writes. */
  get state(): State {
    return (this.$view ??= this.$owner.state.viewOf(this))
  }
  get history(): ReadonlyHistory {
    this.$checkOpening()
    return this.$session.history.view
  }
  override get metadata(): Record<string, unknown> {
    return this.$session.metadata
  }
  restore(saved: Snapshot, options: { stored?: boolean } = {}): void {
    checkOptions(options, ofRestore, 'restore()', 'layer.invalid')
    this.$checkOpening()
    const what = 'called ctx.restore() during a turn. Call it in a session hook, or in aroundRun() before next().'
    if (this.$call.ring.scope !== 'session' || this.$session.turn !== undefined)
      throw layerError(this, 'layer.invalid', what)
    this.$session.restore(saved, options.stored)
  }
  emit(event: CustomEvent): void {
    checkEvent(this, event)
    const { turn, agent } = this.$session
    if (turn !== undefined) turn.send(event)
    else if (agent.observers.events.has(event.type)) agent.observers.emit(event.type, { ...event })
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

type InSession = SessionView<unknown, unknown, unknown, unknown>
type OfSession = SessionContext<unknown, unknown, unknown, unknown>

/** Returns whether the session was created without an id, so that no later session can continue it. */
export function isAnonymous(ctx: InSession): boolean {
  return layerOf('isAnonymous()', ctx, SessionAttempt).$owner.isAnonymous
}

/** Returns the pending tool calls of the last answer. */
export function pendingCalls(ctx: InSession): readonly ToolCallPart[] {
  return cloneJson(layerOf('pendingCalls()', ctx, SessionAttempt).$session.history.pending())
}

/**
 * Wraps each run of the session, outside its turn: the wrapper stores the turn, holds a lease, or returns a stored turn.
 * The first layer's wrapper is the outermost. Call it before next().
 */
export function aroundRun(ctx: OfSession, wrapper: AroundRun): void {
  register('aroundRun', ctx, wrapper)
}

/** Wraps each step of a turn, for example to store a checkpoint. Call it before next(). */
export function aroundStep(ctx: OfSession, wrapper: AroundStep): void {
  register('aroundStep', ctx, wrapper)
}

/** Finds turns of other processes, for `fork()` and `rewind()`. Call it before next(). */
export function provideTurns(ctx: OfSession, find: FindTurn): void {
  register('provideTurns', ctx, find)
}

function register<V extends keyof Registered>(verb: V, ctx: OfSession, fn: Registered[V]): void {
  const layer = layerOf(`${verb}()`, ctx, SessionAttempt)
  layer.$checkOpening()
  if (layer.$isLate(verb)) return
  const { $session, $hook } = layer
  if (!$session.opening)
    throw layerError(layer, 'layer.invalid', `called ${verb}() too late. Call it in a session hook, before next().`)
  const registered = $session.registered as { [Verb in keyof Registered]?: unknown[] }
  // Errors name the layer.
  const named = Object.defineProperty(fn.bind(undefined), 'name', { value: layer.$name })
  registered[verb] ??= []
  registered[verb].push(named)
  $session.registered.isStored ||= $hook?.stores
}
