import type { AgentScope } from '../agent/scope/agent-scope.ts'
import type { DisplayTransform, Middleware, Usable } from '../middleware/middleware.ts'
import type { Cancel } from '../onion/cancel.ts'
import type { Onion } from '../onion/hook.ts'
import type { SessionKey } from '../ports/session-store.ts'
import type { RunKeys } from './run-keys.ts'

export interface Abortable {
  /** Its index among the running ones. */
  position: number
  abort(reason: unknown): void
}

/** The agent's interface for its sessions. */
export interface SessionHost {
  readonly scope: AgentScope
  /** Whether init() has succeeded. */
  readonly ready: boolean
  /** The runs with an idempotency key. */
  readonly keys: RunKeys
  /** The name of a layer that stores sessions and restores them when they open, if there is one. */
  readonly storageLayer: string | undefined
  init(by?: Cancel): Promise<void>
  /** Returns the error if no run may start now. */
  refusal(): Error | undefined
  /** Returns the agent's onion with the layers of a run inside it, and `inner` inside those. */
  onionWith(use: readonly Usable[] | undefined, inner?: Middleware): Onion
  /** Returns the transform from a stored text to the text that the reader sees. */
  displayFor(key: SessionKey): Promise<DisplayTransform>
  checkContext(context: unknown): unknown
  checkPrincipal(principal: unknown): unknown
  checkSessionId(id: unknown): string
  /**
   * A session with layers has opened and has to be closed. @throws AlliumError `agent.disposed` if the agent would not
   * close it
   */
  opened(session: { close(): Promise<void> }): void
  closed(session: { close(): Promise<void> }): void
  /** A run started, or settled including its deferred work. */
  started(run: Abortable): void
  settled(run: Abortable): void
}
