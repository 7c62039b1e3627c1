import { capability } from './capability.ts'
import type { Lease } from './session-store.ts'

/** Whose data is erased: those of a tenant, or of one owner in it. */
export interface Erasure {
  readonly tenant: string
  readonly owner?: string | undefined
}

/**
 * For whom something is stored, and since when the run goes on that stores it. `erase` finds what was stored for an owner by it, and a store
 * refuses the writes of runs that began before their owner was erased.
 */
export interface Writer {
  readonly tenant: string
  readonly owner: string
  /** Milliseconds since the epoch at which the run began. */
  readonly since: number
  /** The lease under which the run goes on. The store that gave it fences by it instead of by `since`, and so by no clock. */
  readonly lease?: Lease | undefined
}

/** What holds the lease of a session, as `memory.persist` does: `ctx.find(heldLease)`. */
export const heldLease = capability<{ readonly lease: Lease | undefined }>('allium:lease')
