import type { Decision, PendingCall } from '@allium/core'

/** Decisions that the server has not confirmed. `key` is their idempotency key. */
export interface SentDecisions {
  readonly key: string
  readonly decisions: Readonly<Record<string, Decision>>
}

/** Returns the decisions about calls that are still pending, with the tokens of these calls. */
export function dueDecisions(
  { decisions }: SentDecisions,
  pending: readonly PendingCall[],
): Record<string, Decision> | undefined {
  const due = pending.flatMap(({ callId, token }): [string, Decision][] => {
    const decision = decisions[callId]
    if (decision === undefined) return []
    return [[callId, token === undefined ? decision : { ...decision, token }]]
  })
  return due.length === 0 ? undefined : Object.fromEntries(due)
}
