import type { Decision, Input, ToolDef, Usage } from '@allium/core'
import type { DurableStatus, EventLog, EventReader, SessionStore } from '@allium/store'

/** The durable runs of an agent, as the server uses them. `durable()` of `@allium/durable` returns them. */
export interface DurableRuns {
  readonly agent: { readonly name: string }
  readonly sessions: SessionStore
  readonly events: EventLog
  start(request: DurableRequest): Promise<{ readonly turnId: string }>
  attach(turnId: string, options: { principal: unknown; after: number; signal: AbortSignal }): EventReader
  stop(turnId: string, options: { principal: unknown; reason: string }): Promise<boolean>
  get(turnId: string, options: { principal: unknown }): Promise<DurableInfo>
  /** Returns a run, and those that continue after its handoffs, as one run. @param open returns a run of the session */
  follow?<R extends object>(run: R, open: (turnId: string) => R, principal: unknown): Promise<R>
  drain(options: { timeout: number }): Promise<void>
}

/** The request of a durable run. Either `input` or `decisions` is required. */
interface DurableRequest {
  readonly principal: unknown
  readonly sessionId: string
  readonly input?: Input | undefined
  readonly decisions?: Readonly<Record<string, Decision>> | undefined
  readonly approver?: unknown
  readonly output?: Readonly<Record<string, unknown>> | undefined
  readonly clientTools?: readonly ToolDef[] | undefined
  readonly idempotencyKey?: string | undefined
  readonly onRetryAfterOutput?: 'reset' | 'fail' | undefined
  readonly onBusy: 'reject'
}

/** The status and outcome of a durable run. */
export interface DurableInfo {
  readonly status: DurableStatus
  /** The input, as long as the run may be executed again. */
  readonly input?: Input
  readonly code?: string
  readonly reason?: string
  readonly text?: string
  readonly usage?: Usage
}
