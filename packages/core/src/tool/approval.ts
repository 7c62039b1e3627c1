import type { PendingCall } from '../state/snapshot.ts'

/**
 * A human's decision on a pending call: approve it unchanged, deny it with a reason, or approve it with other arguments.
 * For a call that the client runs, it carries the `result`, which is text or a JSON value.
 * `data` is passed to the layer that suspended the call.
 */
export type Approval = (
  | { approve: true }
  | { deny: string }
  | { args: Record<string, unknown> }
  | { result: unknown; isError?: boolean }
) & { data?: unknown }

/** An approval with the token of its call. Required if the agent has `approvals.secret`. */
export type Decision = Approval & { token?: string | undefined }

/** A pending call that an approver wants to decide, as it would run: a frozen copy with the true values. */
export type DecidableCall = Readonly<Pick<PendingCall, 'callId' | 'name' | 'args' | 'request' | 'path'>>
