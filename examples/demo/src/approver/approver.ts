import type { Approval, PendingCall } from 'allium'

/** Decides a pending call. Rejects when the signal aborts. */
export type Approver = (call: PendingCall, signal: AbortSignal) => Promise<Approval>
