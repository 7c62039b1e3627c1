import { reasonText } from '../errors/describe.ts'
import { checkOptions } from '../errors/known-options.ts'
import type { Part, ToolStatus } from '../messages/message.ts'
import { type PlainRules, toPlain } from '../messages/to-plain.ts'
import type { FlowLabels } from './flow.ts'

/** The result of one tool call. */
export interface ToolResult {
  callId: string
  /** Sent to the model. */
  content: string | Part[]
  /** The return value of `execute`. */
  value?: unknown
  isError?: boolean
  status: ToolStatus
  /** The thrown error, for logs and retries. Never sent to the model. */
  error?: unknown
  /** Labels of this result, in addition to the tool's own. */
  flow?: FlowLabels
}

/** A result that a layer may return: text, or content with its error flag. */
export type ToolResultInput =
  | string
  | { content: string | Part[]; isError?: boolean; value?: unknown; flow?: FlowLabels }

const shaped = Symbol('allium.toolResult')

/** A result of `toolResult()`. `execute` returns it to set the content parts or the error flag itself. */
export interface ShapedToolResult {
  readonly [shaped]: true
  content: string | Part[]
  isError: boolean
  flow?: FlowLabels
}

/** Shapes the result that the model gets: parts such as images, an error passed on unchanged, or labels of its text. */
export function toolResult(options: {
  content: string | Part[]
  isError?: boolean
  /** In addition to the tool's own labels: `{ private: true }` for this result. */
  flow?: FlowLabels
}): ShapedToolResult {
  checkOptions(options, ofResult, 'toolResult()', 'tool.invalid')
  const { content, isError = false, flow } = options
  return { [shaped]: true, content, isError, ...(flow !== undefined && { flow }) }
}

const ofResult = { content: true, isError: true, flow: true } as const

/** Builds the result from the return value of `execute`. A look-alike object is data: only `toolResult()` can set the flag. */
export function resultOf(callId: string, value: unknown, lost?: Parameters<typeof serialize>[1]): ToolResult {
  if (isShaped(value))
    return {
      callId,
      content: value.content,
      value,
      status: value.isError ? 'error' : 'ok',
      ...(value.isError && { isError: true }),
      ...(value.flow !== undefined && { flow: value.flow }),
    }
  return { callId, content: typeof value === 'string' ? value : serialize(value, lost), value, status: 'ok' }
}

/** Returns the content of a result as one text. Each part begins a line, so that two texts do not become one word. */
export function resultText(content: string | readonly Part[]): string {
  if (typeof content === 'string') return content
  return content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n')
}

export function errorResult(callId: string, content: string, error?: unknown): ToolResult {
  const result: ToolResult = { callId, content, isError: true, status: 'error' }
  if (error !== undefined) result.error = error
  return result
}

/** Returns the result of a suspended call for the layers. */
export function suspendedResult(callId: string): ToolResult {
  return { callId, content: 'Waiting for a decision.', status: 'suspended' }
}

export function deniedResult(callId: string, reason: string): ToolResult {
  return { callId, content: reasonText(reason, 'Denied.'), isError: true, status: 'denied' }
}

export function isShaped(value: unknown): value is ShapedToolResult {
  return typeof value === 'object' && value !== null && shaped in value
}

const rules: PlainRules = {
  error: ({ name, message }) => ({ name, message }),
  bytes: (bytes) => `[${bytes.constructor.name} of ${bytes.byteLength} bytes]`,
  other: (value) => (typeof value === 'symbol' ? value.toString() : `[function ${value.name}]`),
}

/**
 * Serializes any value as text for the model: JSON if possible, otherwise the closest faithful text. Equal values give equal
 * text. Only a getter or `toJSON` of the value itself can throw.
 *
 * @param lost called with each value that the model receives in another form, such as a Date
 */
export function serialize(value: unknown, lost?: PlainRules['lost']): string {
  if (typeof value === 'string') return value
  return JSON.stringify(toPlain(value, lost === undefined ? rules : { ...rules, lost }) ?? null)
}
