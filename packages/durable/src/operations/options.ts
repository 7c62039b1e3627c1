import { AlliumError, type Clock } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { AuditSinkInput } from '@allium/observe'
import type { EventLog, RunOperations, RunStore, ScheduleStore, SessionStore } from '@allium/store'
import type { QueueOptions } from '../host/queues.ts'
import type { DurableAgent, DurableOptions } from '../options.ts'

/** The stores of the runs. `sqlite()` and `postgres()` return one. */
export interface OperationsStore {
  readonly runs: RunStore
  readonly sessions: SessionStore
  readonly operations: RunOperations
  readonly events?: EventLog | undefined
  readonly schedules?: ScheduleStore | undefined
  readonly audit?: { chainOf(tenant: string): object } | undefined
}

export interface OperationsOptions {
  store: OperationsStore
  /** The event log of the runs. Through it, a stop reaches a running process at once. @default the event log of the store */
  events?: EventLog | undefined
  /**
   * The destination of audit records, as for `observe.audit`: each look at content, and each change that names an operator.
   * @default the `audit` of the store
   */
  audit?: AuditSinkInput | undefined
  /** The secret of the audit chains, if `observe.audit` writes them with one. @default none */
  auditSecret?: string | Uint8Array | undefined
  /** The agents of this version of the code, to which `migrate()` can move runs. They keep their sessions in the same store. @default none */
  agents?: readonly DurableAgent[] | undefined
  /** The same option as that of `durable()`, for `migrate()`. @default the principal that the run was started with */
  resolvePrincipal?: DurableOptions['resolvePrincipal']
  /** The same option as that of `durable()`: `queues()` shows their limits. @default none */
  queues?: Readonly<Record<string, QueueOptions>> | undefined
  /** @default the system clock */
  clock?: Clock | undefined
}

const optionKeys: KeysOf<OperationsOptions> = {
  store: true,
  events: true,
  audit: true,
  auditSecret: true,
  agents: true,
  resolvePrincipal: true,
  queues: true,
  clock: true,
}

/** @throws AlliumError `options.invalid` */
export function checkOperationsOptions(options: OperationsOptions): void {
  checkOptions(options ?? null, optionKeys, 'operations()', 'options.invalid')
  if (options.store?.operations === undefined)
    throw new AlliumError(
      'options.invalid',
      'operations() needs a store with durable runs that operators can list. Pass sqlite() or postgres().',
    )
}
