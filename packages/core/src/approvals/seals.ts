import { layerOf } from '../agent/scope/context.ts'
import type { ToolContext } from '../contexts/tool.ts'
import type { Part, ToolCallPart } from '../messages/message.ts'
import { isSealOf, type Secrets, sealOf } from '../ports/seal.ts'
import { tenantOf } from '../ports/tenant.ts'
import type { SessionScope } from '../session/scope/session-scope.ts'
import { ToolAttempt } from '../tool/scope/context.ts'

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

/**
 * Returns a seal over a JSON-like value, for data that a layer stores in the state and trusts later, such as a
 * remembered approval. The seal is valid for this tenant and owner. It is signed with the agent's `approvals.secret`.
 * Without a secret it is a digest, which detects a change but not a forgery.
 */
export function seal(ctx: ToolContext<unknown, unknown, unknown, unknown, unknown>, value: unknown): Promise<string> {
  const { agent, owner, principal } = layerOf('seal()', ctx, ToolAttempt).$owner
  return sealOf(['layer', tenantOf(principal) ?? null, owner ?? null, value], agent.setup.approvals.secret)
}

function boundOf({ principal }: SessionScope, call: ApprovalSubject | undefined): unknown {
  const { callId = null, name = null, args = null, approvalRequest = null } = call ?? {}
  return ['provider', tenantOf(principal) ?? null, callId, name, args, approvalRequest]
}
