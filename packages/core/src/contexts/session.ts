import type { CustomEvent } from '../events/events.ts'
import type { ReadonlyHistory } from '../messages/history.ts'
import type { RegisteredContext, RegisteredPrincipal } from '../ports/register.ts'
import type { SessionKey } from '../ports/session-store.ts'
import type { Snapshot } from '../state/snapshot.ts'
import type { State } from '../state/state-store.ts'
import type { AgentView } from './agent.ts'

/** What the session adds to the contexts of its scope and of those inside. */
export interface SessionView<S = State, Config = unknown, C = RegisteredContext, P = RegisteredPrincipal>
  extends AgentView<Config> {
  readonly sessionId: string
  /** The principal that the caller passed in. It is part of keys and limits. */
  readonly principal: P
  /**
   * The key that the session is stored under, with its tenant and owner. `sessionKeyOf(ctx)` returns it as one string.
   */
  readonly sessionKey: SessionKey
  /** The application's own runtime context. */
  readonly context: C
  /** The session state. Reads see earlier writes, and a write goes through the reducer of its key. */
  readonly state: S
  /** The canonical conversation, for reading and push. */
  readonly history: ReadonlyHistory
  /** Sends an event to the run's stream and to observers of its type. */
  emit(event: CustomEvent): void
}

/** Session scope: from open (or the first run) to close(). */
export interface SessionContext<S = State, Config = unknown, C = RegisteredContext, P = RegisteredPrincipal>
  extends SessionView<S, Config, C, P> {
  /**
   * Restores a snapshot. Sets history and state to copies of it, without the reducers. Not while a turn runs.
   *
   * @param options.stored whether it comes from the store of the session, so that it is not stored again
   * @default false
   * @throws AlliumError `history.invalid`, `state.invalid`, `layer.invalid` during a turn
   */
  restore(saved: Snapshot, options?: { stored?: boolean }): void
}
