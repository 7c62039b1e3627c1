import { type Clock, systemClock } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import { Chains } from './chains.ts'
import { digestWith } from './seal.ts'
import { withTimeout } from './timeout.ts'
import type { AuditSinkInput } from './to-sink.ts'

export interface AuditLogOptions {
  /** The destination of records, as for `observe.audit`. */
  sink: AuditSinkInput
  /** The secret of the chain. Use the same as `observe.audit` for the same sink. @default none: SHA-256 */
  secret?: string | Uint8Array | undefined
  /** How long `append()` waits for the sink, in milliseconds. @default 5000 */
  timeout?: number | undefined
  /** @default the system clock */
  clock?: Clock | undefined
}

/** A record of something that happened outside of a run. Its fields are plain data, and are recorded in clear text. */
export interface AuditEntry {
  readonly type: string
  /** The tenant whose chain gets the record. @default the chain of records without a tenant */
  readonly tenant?: string | undefined
  readonly [field: string]: unknown
}

/** Appends records to the hash chains of `observe.audit`. */
export interface AuditLog {
  /** Resolves once the record is stored. Rejects if the sink fails or takes longer than `timeout`. */
  append(entry: AuditEntry): Promise<void>
}

const optionKeys: KeysOf<AuditLogOptions> = { sink: true, secret: true, timeout: true, clock: true }

/**
 * Records events that happen outside of a run, such as a look of an operator at a conversation, in the same hash chains as
 * `observe.audit`. `observe.verify` checks them together.
 *
 * @throws TypeError when the secret is empty
 * @example
 * import { auditLog } from '@allium/observe/audit-log'
 * await auditLog({ sink: store.audit }).append({ type: 'export', tenant: 'acme', by: 'dana' })
 */
export function auditLog(options: AuditLogOptions): AuditLog {
  checkOptions(options, optionKeys, 'auditLog()', 'options.invalid')
  const { sink, secret, timeout = 5000, clock = systemClock } = options
  const chains = new Chains(sink, digestWith(secret))
  return {
    append({ type, tenant, ...fields }) {
      const at = new Date(clock.now()).toISOString()
      const record = { at, type, ...(tenant !== undefined && { tenant }), ...fields }
      return chains
        .for(tenant)
        .append({ key: crypto.randomUUID(), fields: async () => record }, (work) => withTimeout(work, timeout, clock))
    },
  }
}
