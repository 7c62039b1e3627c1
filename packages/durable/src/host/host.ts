import { AlliumError, type Clock, type ErrorCode, isAlliumError, isBlockError, type Logger } from '@allium/core'
import type { EventLog, ExpiredCalls, RunStore, SessionStore } from '@allium/store'
import type { CodeShape } from '@allium/store/code-shape'
import type { DurableAgent, DurableOptions, Retention } from '../options.ts'
import type { DurableEvent } from './durable-event.ts'
import type { Queues } from './queues.ts'

/** State that all runs of a process share. */
export interface Host {
  readonly agent: DurableAgent
  /** The agent's name, then its former names. Runs under any of them belong to the agent. */
  readonly names: readonly string[]
  readonly version: string
  /** The versions whose runs this process continues: its own, then those that it accepts. */
  readonly versions: readonly string[]
  /** The structure of the agent's code. */
  shape(): Promise<CodeShape>
  readonly runs: RunStore
  readonly sessions: SessionStore
  readonly events: EventLog
  readonly clock: Clock
  readonly logger: Logger
  readonly options: DurableOptions
  /** The name of this process, for operators. */
  readonly worker: string
  /** Lease duration in milliseconds. */
  readonly lease: number
  readonly attempts: number
  /** Milliseconds after which ended runs are deleted. */
  readonly retention: Required<Retention>
  /** Most runs that this process executes at once. */
  readonly concurrency: number
  readonly queues: Queues
  /** Reports an end that the event log could not store to the readers in this process. */
  reportUnloggedEnd(run: string, error: unknown): void
  /** Called at each poll, before runs are claimed. One returns whether it has more to do. */
  readonly pollHooks: Set<() => Promise<boolean>>
  /** Denies calls that were not decided in time. */
  expire(expired: ExpiredCalls): Promise<void>
  /** Reports an event to the option `onEvent`. Never throws. */
  report(event: DurableEvent): void
  /** The parts of an error that readers may see. */
  publicError(error: unknown): { code: ErrorCode; message: string }
}

/** Returns the code and message of Allium's own errors. Other errors get a generic message, which says whether the model failed. */
export function publicError(error: unknown): { code: ErrorCode; message: string } {
  if (isAlliumError(error)) return { code: error.code, message: error.message }
  // From a session layer. A block inside a turn ends the turn and throws nothing.
  if (isBlockError(error)) return { code: (error.code ?? 'run.blocked') as ErrorCode, message: error.reason }
  const { name, statusCode, status = statusCode } = (error ?? {}) as Record<'name' | 'status' | 'statusCode', unknown>
  if (name === 'TimeoutError') return { code: 'model.timeout', message: 'The model took too long.' }
  if (typeof status === 'number') return { code: 'model.failed', message: 'The model could not answer.' }
  return { code: 'run.failed', message: 'The run failed. The log of its process has the error.' }
}

export function notFound(run: string): AlliumError {
  return new AlliumError(
    'session.not_found',
    `There is no run "${run}" of this principal. Check its id, tenant and owner.`,
  )
}
