import { AlliumError, type Decision, type PendingCall, type Session } from '@allium/core'
import type { ClientAnswers, Response } from './client-request.ts'

/**
 * Returns the pending calls as the approver sees them: with a token for those that the approver may approve. Without a approver, as the
 * session's own principal sees them.
 */
export async function pendingFor(session: Session<unknown>, approver: unknown): Promise<readonly PendingCall[]> {
  const waiting = session.pending
  if (approver === undefined) return waiting
  const allowed = new Map((await session.pendingFor(approver)).map((call) => [call.callId, call]))
  return waiting.map(({ token: _, ...call }) => allowed.get(call.callId) ?? call)
}

/**
 * Returns the approval id that the client receives for a pending call. Without a token, the call id approves nothing that needs a token.
 */
export function approvalIdOf({ token, callId }: PendingCall): string {
  return token ?? callId
}

/** The decisions in a client's answers. */
export interface ClientDecisions {
  decisions: Record<string, Decision>
  calls: PendingCall[]
}

/**
 * Converts a client's answers to decisions. A client repeats those of earlier turns; they are skipped as long as one is new. If an
 * id matches no call of the session, it is forged and no decision counts. Outputs count for calls that were handed to the client.
 *
 * @throws AlliumError `approval.forged`, `approval.used`, `request.invalid`
 */
export async function decisionsFrom(
  session: Session<unknown>,
  { responses, outputs }: ClientAnswers,
  approver: unknown,
): Promise<ClientDecisions> {
  const pendingCalls = await pendingFor(session, approver)
  const pendingById = new Map(
    pendingCalls.filter(({ client }) => client !== true).map((call) => [approvalIdOf(call), call]),
  )
  const outcome: ClientDecisions = { decisions: {}, calls: [] }
  for (const call of pendingCalls.filter(({ client }) => client === true)) {
    const output = outputs.find(({ callId }) => callId === call.callId)
    if (output === undefined) continue
    const { result, isError } = output
    const token = call.token === undefined ? {} : { token: call.token }
    outcome.decisions[call.callId] = { result, ...(isError && { isError }), ...token }
    outcome.calls.push(call)
  }
  for (const response of responses) {
    const call = pendingById.get(response.approvalId)
    if (call === undefined && !isAlreadyDecided(session, response)) throw forgedApproval(response)
    if (call === undefined || call.callId in outcome.decisions) continue
    outcome.decisions[call.callId] = decisionOf(response, call)
    outcome.calls.push(call)
  }
  if (outcome.calls.length > 0) return outcome
  if (responses.length === 0)
    throw new AlliumError(
      'request.invalid',
      'No call of the page is waiting for an output. Each output can be sent only once.',
    )
  throw new AlliumError(
    'approval.used',
    'The calls that the messages decide have already been decided. A decision can be used only once.',
  )
}

function decisionOf({ approved, reason = 'Denied.' }: Response, { token }: PendingCall): Decision {
  return { ...(approved ? { approve: true } : { deny: reason }), ...(token !== undefined && { token }) }
}

/** Whether it concerns a call of the session, or one inside its sub-agent, that is no longer pending. */
function isAlreadyDecided({ history, pending }: Session<unknown>, { callId }: Response): boolean {
  if (callId === undefined || pending.some((call) => call.callId === callId)) return false
  return [...history].some(
    ({ role, content }) =>
      role === 'assistant' &&
      typeof content !== 'string' &&
      content.some((part) => part.type === 'tool-call' && `${callId}/`.startsWith(`${part.callId}/`)),
  )
}

function forgedApproval({ callId }: Response): AlliumError {
  const call = callId === undefined ? 'a call without an id' : `the call ${JSON.stringify(callId.slice(0, 100))}`
  return new AlliumError(
    'approval.forged',
    `An approval for ${call} has an id that matches no pending call of the session. Send back the id of the approval request.`,
  )
}
