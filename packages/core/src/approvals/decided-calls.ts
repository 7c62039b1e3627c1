import { lastCalls } from '../messages/calls.ts'
import { cloneJson, equalJson } from '../messages/json.ts'
import type { Approval, Decision } from '../tool/approval.ts'
import type { RequestedCall } from '../turn/tool-call.ts'
import type { Turn } from '../turn/turn.ts'
import type { Resume } from '../turn/turn-options.ts'

/** Returns the pending calls that have a decision, to run now. */
export function decidedCalls({ session }: Turn, { suspension, decisions, records }: Resume): RequestedCall[] {
  const waiting = new Set(session.history.pending().map(({ callId }) => callId))
  return lastCalls(session.history.items).flatMap((part, index): RequestedCall[] => {
    const { callId, name, approvalRequest } = part
    if (!waiting.has(callId)) return []
    const suspended = suspension?.calls[callId]
    const inner = suspended?.inner === undefined ? undefined : innerDecisions(callId, decisions)
    const approval = inner === undefined ? approvalOf(decisions.get(callId)) : ({ approve: true } as const)
    if (approval === undefined) return []
    const args = cloneJson('args' in approval ? approval.args : part.args)
    return [
      {
        call: { callId, name, args, ...(approvalRequest !== undefined && { approvalRequest }) },
        index,
        problem: undefined,
        approval,
        // An approver sees the values for which the model has placeholders.
        isEdited: !equalJson(args, part.args) && !equalJson(args, suspended?.ran),
        approvalRecord: records.get(callId),
        suspension: suspended,
        inner,
      },
    ]
  })
}

/** Returns the decisions on calls of a suspended sub-agent in this call, by their inner ids. */
function innerDecisions(
  callId: string,
  decisions: ReadonlyMap<string, Decision>,
): Record<string, Decision> | undefined {
  const prefix = `${callId}/`
  const inner = [...decisions].filter(([id]) => id.startsWith(prefix))
  if (inner.length === 0) return undefined
  return Object.fromEntries(inner.map(([id, decision]) => [id.slice(prefix.length), withInnerToken(decision)]))
}

/** The token of an inner call is the token of the outer call, a dot, and its own. */
function withInnerToken({ token, ...decision }: Decision): Decision {
  return token === undefined ? decision : { ...decision, token: token.slice(token.indexOf('.') + 1) }
}

/** Returns a decision without its token, for layers. */
function approvalOf(decision: Decision | undefined): Approval | undefined {
  if (decision === undefined) return undefined
  const { token: _, ...approval } = decision
  return Object.freeze(approval) as Approval
}
