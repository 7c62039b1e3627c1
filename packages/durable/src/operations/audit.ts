import { AlliumError, messageOf } from '@allium/core'
import type { AuditSinkInput } from '@allium/observe'
import { type AuditLog, auditLog } from '@allium/observe/audit-log'
import type { RunSummary, ScheduleKey } from '@allium/store'
import type { OperationsOptions } from './options.ts'

/** What an operator did. The record has the type `operator:<action>`. */
export type OperatorAction =
  | 'content'
  | 'stop'
  | 'force_stop'
  | 'retry'
  | 'migrate'
  | 'start_again'
  | 'deny'
  | 'schedule_pause'
  | 'schedule_resume'
  | 'schedule_run'

/** The run or the schedule that an operator looked at or changed. */
type Subject = Pick<RunSummary, 'key' | 'run'> | { readonly schedule: ScheduleKey }

/** Records the looks and changes of operators, in the chain of the tenant. */
export class OperatorAudit {
  readonly #log: AuditLog | undefined

  constructor({ store, audit, auditSecret, clock }: OperationsOptions) {
    const sink = audit ?? (store.audit as AuditSinkInput | undefined)
    if (sink !== undefined) this.#log = auditLog({ sink, secret: auditSecret, clock })
  }

  /** @throws AlliumError `options.invalid` without a sink; `store.unavailable` if the record was not stored */
  async record(
    action: OperatorAction,
    subject: Subject,
    by: { operator: string; reason?: string; [field: string]: unknown },
  ): Promise<void> {
    if (this.#log === undefined)
      throw new AlliumError(
        'options.invalid',
        'operations() has no audit to record this operator in, so nothing was done. Pass audit, or a store that has one.',
      )
    try {
      await this.#log.append({ type: `operator:${action}`, ...fieldsOf(subject), ...by })
    } catch (cause) {
      throw new AlliumError(
        'store.unavailable',
        `The audit could not record the operator "${by.operator}", so nothing was done: ${messageOf(cause)} Check the audit and try again.`,
        { cause },
      )
    }
  }
}

function fieldsOf(subject: Subject) {
  if ('schedule' in subject) {
    const { tenant, owner, id } = subject.schedule
    return { tenant, user: owner, schedule: id }
  }
  const { tenant, owner, sessionId } = subject.key
  return { tenant, user: owner, session: sessionId, turn: subject.run }
}
