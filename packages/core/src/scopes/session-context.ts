import type { CustomEvent } from '../events/events.ts'
import type { ReadonlyHistory } from '../messages/history.ts'
import type { Message } from '../messages/message.ts'
import type { Capabilities } from '../seams/capability.ts'
import type { State } from '../state/state-store.ts'
import { type AgentContext, AgentView } from './agent-context.ts'
import type { AgentScope } from './agent-scope.ts'
import type { SessionScope } from './session-scope.ts'

/** Session scope: from open (or the first run) to close(). */
export interface SessionContext<S = State, Config = unknown, C = unknown, P = unknown> extends AgentContext<Config> {
  readonly sessionId: string
  /** Who acts, as the caller said; keys and limits carry it. */
  readonly principal: P
  /** The application's own runtime context. */
  readonly context: C
  /** Reads see earlier writes; a write goes through the reducer of its key. */
  readonly state: S
  /** The canonical conversation: reading, and push. */
  readonly history: ReadonlyHistory
  /** Sets history and state past the reducers, as copies. @throws AlliumError `history.invalid` */
  restore(saved: { history: readonly Message[]; state: Record<string, unknown> }): void
  /** Sends an event into the run's stream and to observers of its type. */
  emit(event: CustomEvent): void
  /** Whether the turn resumes a suspended one. */
  readonly resumed: boolean
}

export class SessionView extends AgentView implements SessionContext {
  protected override get $agent(): AgentScope {
    return this.$session.agent
  }
  protected get $session(): SessionScope {
    return this.$frame.passage.home as SessionScope
  }

  get sessionId(): string {
    return this.$session.id
  }
  get principal(): unknown {
    return this.$session.principal
  }
  get context(): unknown {
    return this.$session.context
  }
  get state(): State {
    return this.$session.state.view
  }
  get history(): ReadonlyHistory {
    return this.$session.history.view
  }
  override get metadata(): Record<string, unknown> {
    return this.$session.metadata
  }
  restore(saved: { history: readonly Message[]; state: Record<string, unknown> }): void {
    this.$session.restore(saved)
  }
  emit(event: CustomEvent): void {
    const { turn, agent } = this.$session
    if (turn !== undefined) turn.send(event)
    else if (agent.observers.has(event.type)) agent.observers.emit(event.type, { ...event })
  }
  get resumed(): boolean {
    return false
  }
  protected override capabilities(): Capabilities {
    return this.$session.capabilities
  }
}
