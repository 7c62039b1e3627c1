import { AlliumError, type Decision, type PendingCall, type Session } from '@allium/core'
import type { Response } from './asked.ts'

/** As the client is told a call that waits: whoever sends it back may decide. The one place where that right is given and asked. */
export function approvalIdOf({ token, callId }: PendingCall): string {
  return token ?? callId
}

/**
 * The decisions that a client's answers are. A client sends those of earlier turns again: they are passed over, as long as one
 * is new. An id that stands for no call of the session is forged, and then none counts.
 *
 * @throws AlliumError `approval.forged`, `approval.used`
 */
export function decisionsOf(session: Session<unknown>, responses: readonly Response[]): Record<string, Decision> {
  const waiting = new Map(session.pending.map((call) => [approvalIdOf(call), call]))
  const decisions: Record<string, Decision> = {}
  for (const response of responses) {
    const call = waiting.get(response.approvalId)
    if (call !== undefined) decisions[call.callId] = decisionOf(response, call)
    else if (!isAnswered(session, response.callId)) throw forged(response)
  }
  if (Object.keys(decisions).length > 0) return decisions
  throw new AlliumError(
    'approval.used',
    'The calls that the messages decide about have been decided already. A decision is used once.',
  )
}

function decisionOf({ approved, reason = 'Denied.' }: Response, { token }: PendingCall): Decision {
  return { ...(approved ? { approve: true } : { deny: reason }), ...(token !== undefined && { token }) }
}

function isAnswered({ history }: Session<unknown>, callId: string | undefined): boolean {
  return [...history].some(
    ({ content }) =>
      typeof content !== 'string' && content.some((part) => part.type === 'tool-result' && part.callId === callId),
  )
}

function forged({ callId }: Response): AlliumError {
  const call = callId === undefined ? 'no call' : `the call ${JSON.stringify(callId.slice(0, 100))}`
  return new AlliumError(
    'approval.forged',
    `An approval for ${call} was sent under an id that no call of the session waits for. Send back the id of the approval that was asked for.`,
  )
}
