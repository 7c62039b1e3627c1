import { equalJson } from '../../messages/json.ts'
import type { ProviderApprovalRequest } from '../../messages/message.ts'
import { errorResult, type ToolResult } from '../../tool/tool-result.ts'
import type { ToolAttempt } from './context.ts'

/** Answers a provider's approval request. Nothing runs here. The answer is sent with the next model call. */
export function answerProvider(core: ToolAttempt): ToolResult {
  const { $call: call, $fields } = core
  const { callId, name } = call
  const { approval, call: sent } = call.requested
  const { server } = sent.approvalRequest as ProviderApprovalRequest
  call.permitted = false
  if (!equalJson($fields.args, sent.args))
    return errorResult(callId, 'The provider cannot run the call with other arguments.')
  if (approval !== undefined && 'deny' in approval) return call.deny(approval.deny)
  if (approval === undefined && !$fields.approved) {
    const where = server === undefined ? '' : ` of the MCP server "${server}"`
    return call.suspend(core, { reason: `The provider asks whether it may run "${name}"${where}.` })
  }
  call.permitted = true
  return { callId, content: 'Approved. The provider runs the call.', status: 'ok' }
}
