import type { ApprovalRecord } from '../messages/approval-record.ts'
import type { ToolCall } from '../model/response.ts'
import type { ToolResult } from './tool-result.ts'

/** A tool call of the turn and what it came to. */
export interface ToolCallRecord extends Pick<ToolCall, 'callId' | 'name' | 'args'> {
  result: ToolResult
  /** What a human has decided of it. */
  approval?: ApprovalRecord
}
