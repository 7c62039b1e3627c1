import { describe } from '../../errors/describe.ts'
import { checkOptions, keysOf } from '../../errors/known-options.ts'
import type { ToolStatus } from '../../messages/message.ts'
import type { Attempt, Call } from '../../onion/attempt.ts'
import { layerError } from '../../onion/misuse.ts'
import type { ToolResult } from '../tool-result.ts'

const ofResult = /* @__PURE__ */ keysOf<ToolResult>()('callId content value isError status error flow')

/** Completes a layer's return value to a result. A layer may return a text, content, or the result of next(). */
export function toResult(
  attempt: Attempt & { $call: Call & { callId: string } },
  given: unknown,
  status: ToolStatus,
): ToolResult {
  const { callId: ownId } = attempt.$call
  if (typeof given === 'string') return { callId: ownId, content: given, status }
  const { content, isError, callId, status: own } = (given ?? {}) as Partial<ToolResult>
  if (typeof content !== 'string' && !Array.isArray(content)) {
    const what = `returned ${describe(given)} without content as its result. Return a string or { content, isError? }.`
    throw layerError(attempt, 'layer.result', what)
  }
  if (callId === ownId && own !== undefined) return given as ToolResult
  checkOptions(given, ofResult, `The result of the layer "${attempt.$hook?.name}"`, 'layer.result')
  return { ...(given as ToolResult), callId: ownId, status: isError === true ? 'error' : status }
}
