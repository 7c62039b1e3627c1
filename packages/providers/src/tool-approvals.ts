import type { Part, ProviderApprovalRequest } from '@allium/core'
import type { ApprovalRequests, PromptContext, PromptPart } from './prompt-context.ts'

/** Returns the response to a provider's approval request. Only `approved: true`, which core sets, lets the provider run the call. */
export function approvalPart(
  part: Part,
  approvalRequests: ApprovalRequests,
  { origin }: PromptContext,
): PromptPart | undefined {
  if (part.type !== 'tool-result') return undefined
  const request = approvalRequests.get(part.callId)
  if (request === undefined) return undefined
  const answer = { type: 'tool-approval-response', approvalId: request.id, approved: part.approved === true }
  // AI SDK middleware may copy the piece; these fields restore its result.
  return origin === undefined ? answer : { ...answer, toolCallId: part.callId, toolName: part.name }
}

/** Whether the part may be sent to this model. An approval request and its response belong only to the provider that sent the request. */
export function isAnswered(
  part: Part,
  approvalRequests: ApprovalRequests,
  { model, dialect, origin }: PromptContext,
): boolean {
  if (part.type !== 'tool-call' && part.type !== 'tool-result') return true
  const request = approvalRequests.get(part.callId)
  return request === undefined || origin !== undefined || (dialect.approvals && request.provider === model.provider)
}

/** Returns the label of the MCP server that the approval is for, from OpenAI's raw event. */
export function serverOf(raw: unknown, approvalId: string): Pick<ProviderApprovalRequest, 'server'> {
  const { item } = (raw ?? {}) as { item?: { id?: unknown; approval_request_id?: unknown; server_label?: unknown } }
  const server = item?.server_label
  const isOf = (item?.approval_request_id ?? item?.id) === approvalId
  return isOf && typeof server === 'string' ? { server } : {}
}
