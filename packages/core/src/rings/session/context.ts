import { describe } from '../../errors/describe.ts'
import { checkOptions } from '../../errors/known-options.ts'
import type { CustomEvent } from '../../events/events.ts'
import type { ReadonlyHistory } from '../../messages/history.ts'
import { cloneJson } from '../../messages/json.ts'
import type { ToolCallPart } from '../../messages/message.ts'
import type { Attempt } from '../../onion/attempt.ts'
import { layerError } from '../../onion/misuse.ts'
import type { Capabilities } from '../../seams/capability.ts'
import type { RegisteredContext, RegisteredPrincipal } from '../../seams/register.ts'
import type { SessionKeeper, SessionKey } from '../../seams/session-store.ts'
import type { Snapshot } from '../../state/snapshot.ts'
import type { State, StateWrite } from '../../state/state-store.ts'
import type { AgentScope } from '../agent/agent-scope.ts'
import { AgentAttempt, type AgentContext } from '../agent/context.ts'
import type { SessionScope } from './session-scope.ts'

const ofRestore = { stored: true, askedBy: true } as const

/** Session scope: from open (or the first run) to close(). */
export interface SessionContext<S = State, Config = unknown, C = RegisteredContext, P = RegisteredPrincipal>
  extends AgentContext<Config> {
  readonly sessionId: string
  /** Whether nobody gave it an id: no later session is meant to go on with it. */
  readonly anonymous: boolean
  /** Who acts, as the caller said; keys and limits carry it. */
  readonly principal: P
  /** Whose session it is: the principal's user, or what the agent's `owner` says. */
  readonly owner: string | undefined
  /** Where the session is kept; `sessionKeyOf(ctx)` gives it as one text. */
  readonly sessionKey: SessionKey
  /** The application's own runtime context. */
  readonly context: C
  /** Reads see earlier writes; a write goes through the reducer of its key. */
  readonly state: S
  /** The canonical conversation: reading, and push. */
  readonly history: ReadonlyHistory
  /**
   * Goes on from a snapshot: sets history and state past the reducers, as copies.
   *
   * @param options.stored whether it comes from where `ctx.keep()` stores it, so that it is not stored again @default false
   * @param options.askedBy the agents that suspended calls, by call id, of calls whose records do not name one. Versions of Allium
   * in which sessions belonged to no agent kept such records @default nobody: such calls can only be denied
   * @throws AlliumError `history.invalid`, `state.invalid`
   */
  restore(saved: Snapshot, options?: { stored?: boolean; askedBy?: Readonly<Record<string, string>> }): void
  /** Stores the session: told before each run and after it. In session hooks only, before next(). */
  keep(keeper: SessionKeeper): void
  /** Tool calls that wait for a human, of the last answer. */
  readonly pending: readonly ToolCallPart[]
  /** Sends an event into the run's stream and to observers of its type. */
  emit(event: CustomEvent): void
  /** Whether the turn resumes a suspended one. */
  readonly resumed: boolean
}

/** @throws AlliumError `layer.invalid` for what is no event: a name with the rest beside it is what other emitters take */
export function checkEvent(attempt: Attempt, event: unknown): void {
  if (typeof (event as { type?: unknown } | undefined)?.type === 'string') return
  const name = typeof event === 'string' ? event : 'your:event'
  const what = `called ctx.emit() with ${describe(event)}. An event is one object with its name in it: ctx.emit({ type: '${name}', … }).`
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

  /** The session that the layer belongs to: for one that a sub-agent inherited, its parent's. */
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
  /** The layer's own view: a shared one could not tell who writes. */
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
  keep(keeper: SessionKeeper): void {
    const { $session } = this
    this.$checkOpening()
    if (!$session.opening)
      throw layerError(this, 'layer.invalid', 'called ctx.keep() too late. Call it in a session hook, before next().')
    $session.keepers ??= []
    $session.keepers.push(keeper)
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
  /** It has written to the state. */
  $wrote(_key: string, _value: unknown): void {}
  /** How what it writes to the state is taken. */
  $writes(_key: string): StateWrite {
    this.$checkOpening()
    return 'taken'
  }
}
