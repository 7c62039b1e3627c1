import { describe } from '../../errors/describe.ts'
import { checkOptions, type KeysOf } from '../../errors/known-options.ts'
import type { ToolStatus } from '../../messages/tool-status.ts'
import type { Attempt } from '../../onion/attempt.ts'
import { layerError } from '../../onion/misuse.ts'
import type { ToolResult } from '../../tool/tool-result.ts'
import type { ToolCall } from './tool-call.ts'

const ofResult: KeysOf<ToolResult> = {
  callId: true,
  content: true,
  value: true,
  isError: true,
  status: true,
  error: true,
  flow: true,
}

/** Completes a layer's return value to a result. A layer may return a text, content, or the result of next(). */
export function toResult(attempt: Attempt, given: unknown, status: ToolStatus): ToolResult {
  const { callId: ownId } = attempt.$call as ToolCall
  if (typeof given === 'string') return { callId: ownId, content: given, status }
  const { content, isError, callId, status: own } = (given ?? {}) as Partial<ToolResult>
  if (typeof content !== 'string' && !Array.isArray(content)) {
    const what = `gave ${describe(given)} without content as its result. Return a string or { content, isError? }.`
    throw layerError(attempt, 'layer.result', what)
  }
  if (callId === ownId && own !== undefined) return given as ToolResult
  checkOptions(given, ofResult, `The result of the layer "${attempt.$hook?.name}"`, 'layer.result')
  return { ...(given as ToolResult), callId: ownId, status: isError === true ? 'error' : status }
}
