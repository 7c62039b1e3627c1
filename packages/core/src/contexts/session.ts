import type { CustomEvent } from '../events/events.ts'
import type { ReadonlyHistory } from '../messages/history.ts'
import type { ToolCallPart } from '../messages/message.ts'
import type { AroundRun, AroundStep, FindTurn } from '../ports/around.ts'
import type { RegisteredContext, RegisteredPrincipal } from '../ports/register.ts'
import type { SessionKey } from '../ports/session-store.ts'
import type { Snapshot } from '../state/snapshot.ts'
import type { State } from '../state/state-store.ts'
import type { AgentContext } from './agent.ts'

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
   * Restores a snapshot. Sets history and state to copies of it, without the reducers. In session hooks only, and not
   * while a turn runs.
   *
   * @param options.stored whether it comes from the store of the session, so that it is not stored again
   * @default false
   * @throws AlliumError `history.invalid`, `state.invalid`, `layer.invalid` during a turn
   */
  restore(saved: Snapshot, options?: { stored?: boolean }): void
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
