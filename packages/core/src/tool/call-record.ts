import type { ApprovalRecord } from '../messages/approval-record.ts'
import type { ToolCall } from '../model/response.ts'
import type { ToolResult } from './tool-result.ts'

/** A tool call of the turn and its result. */
export interface ToolCallRecord extends Pick<ToolCall, 'callId' | 'name' | 'args'> {
  result: ToolResult
  /** The approval decision, if there was one. */
  approval?: ApprovalRecord
}
