/**
 * What a human says of a call that waits: approve it as it is, with `data` where the tool has asked something, refuse it with a reason, or approve
 * it with other arguments.
 */
export type Approval =
  | { approve: true; data?: Record<string, unknown> }
  | { deny: string }
  | { args: Record<string, unknown> }

/** An approval with the token of the call that it is for, which an agent with `approvals.secret` demands. */
export type Decision = Approval & { token?: string }
