import { cloneJson } from '../messages/json.ts'
import type { ToolResultPart } from '../messages/message.ts'
import type { Turn } from '../rings/turn/turn.ts'
import type { ToolCallRecord } from '../tool/call-record.ts'
import { isShaped, type ToolResult } from '../tool/tool-result.ts'

/** The part for the history, which shares nothing with what layers hold. */
export function resultPart(turn: Turn, { name, result, approval }: ToolCallRecord): ToolResultPart {
  const { callId, content, isError } = result
  const part: ToolResultPart = { type: 'tool-result', callId, name, content: cloneJson(content) }
  if (result.flow !== undefined) part.flow = { ...result.flow }
  // The reason of a denial is in its place: nothing of the tool's has come in.
  else if (result.status === 'denied' && turn.options.tools.declaresFlow) part.flow = {}
  if (approval !== undefined) part.approval = approval
  if (isError === true) part.isError = true
  else if (typeof content === 'string' && isJson(result)) part.json = true
  return part
}

/** Whether the content is the JSON of what the tool gave. A layer may have changed the one without the other. */
function isJson({ value, status }: ToolResult): boolean {
  return status === 'ok' && value !== undefined && typeof value !== 'string' && !isShaped(value)
}
