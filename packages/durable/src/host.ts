import {
  AlliumError,
  type Clock,
  type ErrorCode,
  type EventLog,
  type ExpiredCalls,
  isAlliumError,
  isBlockError,
  type Logger,
  type RunStore,
  type SessionStore,
} from '@allium/core'
import type { DurableAgent, DurableOptions } from './options.ts'

/** What all runs of a process share. */
export interface Host {
  readonly agent: DurableAgent
  /** The agent's name, then those that it had before: the runs of all of them are its own. */
  readonly names: readonly string[]
  readonly version: string
  readonly runs: RunStore
  readonly sessions: SessionStore
  readonly events: EventLog
  readonly clock: Clock
  readonly logger: Logger
  readonly options: DurableOptions
  /** Milliseconds. */
  readonly lease: number
  readonly attempts: number
  /** Whether this process was asked for the run, and begins it for the first time: true but once. */
  startedHere(run: string): boolean
  /** Tells the readers in this process of an end that the event log could not take. */
  reportUnloggedEnd(run: string, error: unknown): void
  /** Refuses calls that nobody has decided in time. */
  expire(expired: ExpiredCalls): Promise<void>
  /** What readers may know of an error. */
  publicError(error: unknown): { code: ErrorCode; message: string }
}

/** Allium's own errors tell what they say; of others that there was one, and whether it was the model's. */
export function publicError(error: unknown): { code: ErrorCode; message: string } {
  if (isAlliumError(error)) return { code: error.code, message: error.message }
  // Of a layer around the session: a turn that is blocked has ended.
  if (isBlockError(error)) return { code: (error.code ?? 'run.blocked') as ErrorCode, message: error.reason }
  const { name, statusCode, status = statusCode } = (error ?? {}) as Record<'name' | 'status' | 'statusCode', unknown>
  if (name === 'TimeoutError') return { code: 'model.timeout', message: 'The model took too long.' }
  if (typeof status === 'number') return { code: 'model.failed', message: 'The model could not answer.' }
  return { code: 'run.failed', message: 'The run has failed. The log of its process tells why.' }
}

export function notFound(run: string): AlliumError {
  return new AlliumError(
    'session.not_found',
    `There is no run "${run}" of this principal. Look at its id, tenant and owner.`,
  )
}
