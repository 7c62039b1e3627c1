import type { Part, ProviderApprovalRequest } from '@allium/core'
import type { ApprovalRequests, PromptContext, PromptPart } from './prompt.ts'

/** The answer to a provider that asked for an approval. Only `approved: true`, which the core sets, lets it run the call. */
export function approvalPart(
  part: Part,
  approvalRequests: ApprovalRequests,
  { origin }: PromptContext,
): PromptPart | undefined {
  if (part.type !== 'tool-result') return undefined
  const request = approvalRequests.get(part.callId)
  if (request === undefined) return undefined
  const answer = { type: 'tool-approval-response', approvalId: request.id, approved: part.approved === true }
  // A middleware of the AI SDK may copy the piece: this is how it becomes a result again.
  return origin === undefined ? answer : { ...answer, toolCallId: part.callId, toolName: part.name }
}

/** Whether the part may go to this model. A request for an approval, and the answer, concern the provider that asked and no other. */
export function isAnswered(
  part: Part,
  approvalRequests: ApprovalRequests,
  { model, dialect, origin }: PromptContext,
): boolean {
  if (part.type !== 'tool-call' && part.type !== 'tool-result') return true
  const request = approvalRequests.get(part.callId)
  return request === undefined || origin !== undefined || (dialect.approvals && request.provider === model.provider)
}

/** The label of the MCP server that the approval is for, which only OpenAI's own event tells. */
export function serverOf(raw: unknown, approvalId: string): Pick<ProviderApprovalRequest, 'server'> {
  const { item } = (raw ?? {}) as { item?: { id?: unknown; approval_request_id?: unknown; server_label?: unknown } }
  const server = item?.server_label
  const isOf = (item?.approval_request_id ?? item?.id) === approvalId
  return isOf && typeof server === 'string' ? { server } : {}
}
