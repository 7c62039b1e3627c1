import type { Part, ToolCallPart } from '../messages/message.ts'
import { isSealOf, type Secrets, sealOf } from '../ports/seal.ts'
import { tenantOf } from '../ports/tenant.ts'
import type { SessionScope } from '../session/scope/session-scope.ts'

type ApprovalSubject = Pick<ToolCallPart, 'callId' | 'name' | 'args' | 'approvalRequest'>

/**
 * Returns the seal that lets a provider run a call. Without a seal, anyone with write access to the store could approve.
 */
export function approvalSeal(session: SessionScope, call: ApprovalSubject, secret: Secrets): Promise<string> {
  const pending = session.history.pending().find(({ callId }) => callId === call.callId) ?? call
  return sealOf(boundOf(session, pending), secret)
}

/** Turns approvals in a restored history into denials, unless the agent's secret has signed them. */
export async function refuseForged(session: SessionScope, secret: Secrets): Promise<void> {
  const { history } = session
  const calls = new Map<string, ApprovalSubject>()
  for (const [at, message] of history.items.entries()) {
    if (typeof message.content === 'string') continue
    const content: Part[] = []
    for (const part of message.content) {
      if (part.type === 'tool-call') calls.set(part.callId, part)
      const isForged =
        part.type === 'tool-result' &&
        part.approved === true &&
        !(await isSealOf(part.approvalSeal ?? '', boundOf(session, calls.get(part.callId)), secret))
      content.push(isForged ? { ...part, approved: false } : part)
    }
    if (content.some((part, i) => part !== message.content[i])) history.replace(at, { ...message, content })
  }
}

function boundOf({ principal }: SessionScope, call: ApprovalSubject | undefined): unknown {
  const { callId = null, name = null, args = null, approvalRequest = null } = call ?? {}
  return ['provider', tenantOf(principal) ?? null, callId, name, args, approvalRequest]
}
