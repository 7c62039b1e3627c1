import type { DisplayTransform } from '../middleware/display-transform.ts'
import type { Middleware, Usable } from '../middleware/middleware.ts'
import type { Cancel } from '../onion/cancel.ts'
import type { Onion } from '../onion/hook.ts'
import type { AgentScope } from '../rings/agent/agent-scope.ts'
import type { SessionKey } from '../seams/session-store.ts'
import type { RunKeys } from './run-keys.ts'

export interface Abortable {
  /** Where it stands among those that run. */
  position: number
  abort(reason: unknown): void
}

/** What a session asks of its agent. */
export interface SessionHost {
  readonly scope: AgentScope
  /** init() has ended well. */
  readonly ready: boolean
  /** The runs that were given an idempotency key. */
  readonly keys: RunKeys
  /** The name of a layer that restores sessions when they open, if there is one. */
  readonly keeper: string | undefined
  init(by?: Cancel): Promise<void>
  /** Why no run may start now, if none may. */
  refusal(): Error | undefined
  /** The agent's onion with a run's own layers inside it, and one inside these. */
  onionWith(use: readonly Usable[] | undefined, inner?: Middleware): Onion
  /** How a stored text is read. */
  showing(key: SessionKey): Promise<DisplayTransform>
  checkContext(context: unknown): unknown
  checkPrincipal(principal: unknown): unknown
  checkSessionId(id: unknown): string
  /** A session with layers of its own has opened, and must be closed. @throws AlliumError `agent.disposed` where nobody would */
  opened(session: { close(): Promise<void> }): void
  closed(session: { close(): Promise<void> }): void
  /** A run began, or has settled with its deferred work. */
  started(run: Abortable): void
  settled(run: Abortable): void
}
