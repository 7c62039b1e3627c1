import type { Approval, PendingCall } from 'allium'

/** Who decides of a call that waits. Rejects when the signal aborts. */
export type Approver = (call: PendingCall, signal: AbortSignal) => Promise<Approval>
