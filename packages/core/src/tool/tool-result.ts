import { reasonText } from '../errors/describe.ts'
import { checkOptions } from '../errors/known-options.ts'
import type { Part } from '../messages/message.ts'
import type { ToolStatus } from '../messages/tool-status.ts'
import type { FlowLabels } from './flow.ts'
import { serialize } from './serialize.ts'

/** What one tool call came to. */
export interface ToolResult {
  callId: string
  /** What the model is sent. */
  content: string | Part[]
  /** What `execute` returned. */
  value?: unknown
  isError?: boolean
  status: ToolStatus
  /** What was thrown, for logs and retries; never sent. */
  error?: unknown
  /** What is known of this result, where it is more than the tool says of itself. */
  flow?: FlowLabels
}

/** What a layer may give as a result: a text, or content with its flag. */
export type ToolResultInput =
  | string
  | { content: string | Part[]; isError?: boolean; value?: unknown; flow?: FlowLabels }

const shaped = Symbol('allium.toolResult')

/** A result that `execute` returns to set its parts or its error flag itself. */
export interface ShapedToolResult {
  readonly [shaped]: true
  content: string | Part[]
  isError: boolean
  flow?: FlowLabels
}

/** Shapes what the model gets from a tool: parts such as images, an error that is told as it is, what is known of its text. */
export function toolResult(options: {
  content: string | Part[]
  isError?: boolean
  /** Beside what the tool says of itself: `{ private: true }` for this result. */
  flow?: FlowLabels
}): ShapedToolResult {
  checkOptions(options, ofResult, 'toolResult()', 'tool.invalid')
  const { content, isError = false, flow } = options
  return { [shaped]: true, content, isError, ...(flow !== undefined && { flow }) }
}

const ofResult = { content: true, isError: true, flow: true } as const

/** The result for what `execute` returned. A look-alike object is data: only `toolResult()` can set the flag. */
export function resultOf(callId: string, value: unknown, lost?: Parameters<typeof serialize>[1]): ToolResult {
  if (typeof value === 'string') return { callId, content: value, value, status: 'ok' }
  if (isShaped(value))
    return {
      callId,
      content: value.content,
      value,
      status: value.isError ? 'error' : 'ok',
      ...(value.isError && { isError: true }),
      ...(value.flow !== undefined && { flow: value.flow }),
    }
  return { callId, content: serialize(value, lost), value, status: 'ok' }
}

export function errorResult(callId: string, content: string, error?: unknown): ToolResult {
  const result: ToolResult = { callId, content, isError: true, status: 'error' }
  if (error !== undefined) result.error = error
  return result
}

export function deniedResult(callId: string, reason: string): ToolResult {
  return { callId, content: reasonText(reason, 'Denied.'), isError: true, status: 'denied' }
}

export function isShaped(value: unknown): value is ShapedToolResult {
  return typeof value === 'object' && value !== null && shaped in value
}
