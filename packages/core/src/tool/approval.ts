import type { PendingCall } from '../state/snapshot.ts'

/**
 * What a human says of a call that waits: approve it as it is, refuse it with a reason, or approve it with other arguments.
 * `data` is for the layer that has suspended the call. Of a call that the client runs its `result`, a text or a JSON value.
 */
export type Approval = (
  | { approve: true }
  | { deny: string }
  | { args: Record<string, unknown> }
  | { result: unknown; isError?: boolean }
) & { data?: unknown }

/** An approval with the token of the call that it is for, which an agent with `approvals.secret` demands. */
export type Decision = Approval & { token?: string }

/** A call that somebody wants to decide, as it would run: a frozen copy with its true values. */
export type DecidableCall = Readonly<Pick<PendingCall, 'callId' | 'name' | 'args' | 'request' | 'path'>>
