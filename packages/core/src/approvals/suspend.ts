import { cloneJson } from '../messages/json.ts'
import { digestOf, sealOf } from '../ports/seal.ts'
import { identityOf, tenantOf } from '../ports/tenant.ts'
import type { SuspendedCall } from '../state/snapshot.ts'
import { bindingOf } from '../state/suspension.ts'
import { isClientTool } from '../tool/client-tool.ts'
import { type PendingSuspension, ToolCall } from '../turn/tool-call.ts'
import type { Turn } from '../turn/turn.ts'

/** Stores what the turn needs to resume after a decision: the suspended calls and their seals. */
export async function suspend(turn: Turn): Promise<void> {
  const { session, turnId, rootId, stopReason, suspendedCalls: newlySuspended = [] } = turn
  const before = session.suspension?.calls ?? {}
  const calls: Record<string, SuspendedCall> = {}
  for (const { callId } of session.history.pending()) {
    const made = newlySuspended.find((call): call is ToolCall => call instanceof ToolCall && call.callId === callId)
    const record = made === undefined ? before[callId] : await recordOf(made)
    if (record !== undefined) calls[callId] = record
  }
  // The loop has already advanced to the step after the suspended one.
  const stepIndex = turn.stepIndex - 1
  session.suspension = { turnId, rootId, stepIndex, calls }
  if (stopReason !== undefined) session.suspension.stopReason = stopReason
  const { clientTools } = turn.options
  if (clientTools !== undefined) session.suspension.clientTools = cloneJson(clientTools)
}

async function recordOf(call: ToolCall): Promise<SuspendedCall> {
  const { turn, callId, name, registered, sent, pendingSuspension } = call
  const { setup } = turn.session.agent
  const { approvalRequest } = call.requested.call
  const { request = {}, args = sent.args, layer, inner }: Partial<PendingSuspension> = pendingSuspension ?? {}
  const { expiresIn = setup.approvals.expiresIn, ...shown } = request
  const tenant = tenantOf(turn.session.principal)
  const requestedBy = identityOf(turn.session.principal)
  const sentDigest = await digestOf(sentArgs(turn, callId) ?? call.requested.call.args)
  const digest = await digestOf(args)
  const record: Omit<SuspendedCall, 'token'> = {
    name,
    turnId: turn.turnId,
    agent: setup.name,
    sent: sentDigest,
    args: digest,
    ...(digest !== sentDigest && { ran: args }),
    schema: await digestOf(registered?.def.jsonSchema),
    request: shown,
    ...(setup.version !== undefined && { version: setup.version }),
    ...(approvalRequest !== undefined && { approvalRequest }),
    ...(layer !== undefined && { layer }),
    ...(layer === undefined && isClientTool(registered?.tool) && { client: true as const }),
    ...(tenant !== undefined && { tenant }),
    ...(requestedBy.userId !== undefined && { requestedBy }),
    ...(expiresIn !== undefined && { expiresAt: setup.clock.now() + expiresIn }),
    ...(inner !== undefined && { inner, inside: await digestOf(inner) }),
  }
  return { ...record, token: await sealOf(bindingOf(callId, record), setup.approvals.secret) }
}

/** The arguments in the history. */
function sentArgs({ session }: Turn, callId: string): unknown {
  return session.history.pending().find((part) => part.callId === callId)?.args
}
