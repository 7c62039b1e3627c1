import { AlliumError, messageOf } from '@allium/core'
import type { AuditSinkInput } from '@allium/observe'
import { type AuditLog, auditLog } from '@allium/observe/audit-log'
import type { RunSummary } from '@allium/store'
import type { OperationsOptions } from './options.ts'

/** Records the looks and changes of operators, in the chain of the run's tenant. */
export class OperatorAudit {
  readonly #log: AuditLog | undefined

  constructor({ store, audit, auditSecret, clock }: OperationsOptions) {
    const sink = audit ?? (store.audit as AuditSinkInput | undefined)
    if (sink !== undefined) this.#log = auditLog({ sink, secret: auditSecret, clock })
  }

  /** @throws AlliumError `options.invalid` without a sink; `store.unavailable` if the record was not stored */
  async record(
    action: 'content' | 'stop' | 'retry' | 'migrate',
    { key, run }: Pick<RunSummary, 'key' | 'run'>,
    by: { operator: string; reason?: string },
  ): Promise<void> {
    if (this.#log === undefined)
      throw new AlliumError(
        'options.invalid',
        'operations() has no audit to record this operator in, so nothing was done. Pass audit, or a store that has one.',
      )
    const { tenant, owner, sessionId } = key
    try {
      await this.#log.append({ type: `operator:${action}`, tenant, user: owner, session: sessionId, turn: run, ...by })
    } catch (cause) {
      throw new AlliumError(
        'store.unavailable',
        `The audit could not record the operator "${by.operator}", so nothing was done: ${messageOf(cause)} Check the audit and try again.`,
        { cause },
      )
    }
  }
}
