import type { DisplayTransform, Middleware, Session, SessionKey, SessionOptions } from '@allium/core'
import type { GroupFinding, GroupInspection } from './inspect-group.ts'
import type { HandoffAgent } from './targets.ts'

/** An agent of a group, as `new Agent()` creates it. */
export interface GroupAgent extends HandoffAgent {
  readonly sessionNames: readonly string[]
  readonly version: string | undefined
  readonly store?: unknown
  init(): Promise<void>
  session(options?: { id?: string; principal?: never; context?: never }): Session<unknown, unknown>
  displayFor(key: SessionKey): Promise<DisplayTransform>
  use(layer: Middleware): unknown
  inspect(): GroupInspection
  check(): GroupFinding[]
  dispose(options?: { timeout?: number }): Promise<void>
}

/** The options of a group's session: those of `agent.session()` that all of its agents take. */
export type GroupSessionOptions = Pick<SessionOptions, 'id' | 'principal' | 'context'>
