import { reasonText } from '../errors/describe.ts'
import type { Part } from '../messages/message.ts'
import type { ToolStatus } from '../messages/tool-status.ts'
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
}

/** What a layer may give as a result: a text, or content with its flag. */
export type ToolResultInput = string | { content: string | Part[]; isError?: boolean; value?: unknown }

const shaped = Symbol('allium.toolResult')

/** A result that `execute` returns to set its parts or its error flag itself. */
export interface ShapedToolResult {
  readonly [shaped]: true
  content: string | Part[]
  isError: boolean
}

/** Shapes what the model gets from a tool: parts such as images, or an error that is told as it is. */
export function toolResult({
  content,
  isError = false,
}: {
  content: string | Part[]
  isError?: boolean
}): ShapedToolResult {
  return { [shaped]: true, content, isError }
}

/** The result for what `execute` returned. A look-alike object is data: only `toolResult()` can set the flag. */
export function resultOf(callId: string, value: unknown): ToolResult {
  if (typeof value === 'string') return { callId, content: value, value, status: 'ok' }
  if (isShaped(value))
    return {
      callId,
      content: value.content,
      value,
      status: value.isError ? 'error' : 'ok',
      ...(value.isError && { isError: true }),
    }
  return { callId, content: serialize(value), value, status: 'ok' }
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
