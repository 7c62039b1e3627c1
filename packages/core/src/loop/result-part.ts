import { cloneJson } from '../messages/json.ts'
import type { ToolResultPart } from '../messages/message.ts'
import type { Turn } from '../rings/turn/turn.ts'
import type { ToolCallRecord } from '../tool/call-record.ts'
import { isShaped, type ToolResult } from '../tool/tool-result.ts'

/** Returns the result part for the history. It shares no data with objects that layers hold. */
export function resultPart(turn: Turn, { name, result, approval }: ToolCallRecord): ToolResultPart {
  const { callId, content, isError } = result
  const part: ToolResultPart = { type: 'tool-result', callId, name, content: cloneJson(content) }
  if (result.flow !== undefined) part.flow = { ...result.flow }
  // The content is the reason for the denial. It contains no data of the tool.
  else if (result.status === 'denied' && turn.options.tools.declaresFlow) part.flow = {}
  if (approval !== undefined) part.approval = approval
  if (isError === true) part.isError = true
  else if (typeof content === 'string' && isJson(result)) part.json = true
  return part
}

/** Whether the content is the JSON of the tool's value. A layer may have changed only one of the two. */
function isJson({ value, status }: ToolResult): boolean {
  return status === 'ok' && value !== undefined && typeof value !== 'string' && !isShaped(value)
}
