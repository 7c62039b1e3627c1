import type { TurnView } from '../../contexts/turn.ts'
import { capability } from '../../ports/capability.ts'
import type { Lease } from '../../ports/session-store.ts'

/** Returns the writer that a layer stores data for. Pass it to `KeyValue.set`, `Vault.save` and `Ledger.reserve`. */
export function writerOf(ctx: Pick<TurnView, 'find' | 'sessionKey' | 'startedAt'>): Writer {
  const lease = ctx.find(heldLease)?.lease
  const { tenant, owner } = ctx.sessionKey
  return { tenant, owner, since: ctx.startedAt, ...(lease !== undefined && { lease }) }
}

/** The owner of data to erase: a tenant, or one owner in it. */
export interface Erasure {
  readonly tenant: string
  readonly owner?: string | undefined
}

/**
 * The owner of stored data, and when the run that stores it began. `erase` finds an owner's data by it, and a store rejects the
 * writes of runs that began before their owner was erased.
 */
export interface Writer {
  readonly tenant: string
  readonly owner: string
  /** Milliseconds since the epoch at which the run began. */
  readonly since: number
  /** The lease of the run. The store that issued it fences by the lease instead of by `since`, so no clock matters. */
  readonly lease?: Lease | undefined
}

/** The current lease of a session, as `memory.persist` holds it: `ctx.find(heldLease)`. */
export const heldLease = capability<{ readonly lease: Lease | undefined }>('memory.persist')
