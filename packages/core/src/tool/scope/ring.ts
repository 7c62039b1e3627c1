import { cloneJson } from '../../messages/json.ts'
import { type Ring, State } from '../../onion/attempt.ts'
import { layerError } from '../../onion/misuse.ts'
import type { ToolCall } from '../../turn/tool-call.ts'
import type { ToolResult } from '../tool-result.ts'
import { ToolAttempt } from './context.ts'
import { executeTool } from './execute-tool.ts'
import { toResult } from './to-result.ts'

/**
 * The tool scope. Its attempts hold the arguments and the approval, its core is one `execute`, and its layers return a
 * result.
 */
export const toolRing: Ring<ToolAttempt, ToolCall> = {
  scope: 'tool',
  reentrant: true,
  create: (call, caller, number, cancel) => new ToolAttempt(call, caller, number, cancel),
  shortCircuit: (attempt) => stickyResult(attempt) ?? attempt.$skip,
  enter(caller, inner) {
    const { $fields: fields } = caller
    inner.$fields = caller.$own || caller.$borrowed ? { ...fields, args: cloneJson(fields.args) } : fields
  },
  run: executeTool,
  toResult: resultOf,
  commit(caller, inner) {
    if (caller.$hook?.reenters === true) return
    caller.$fields = inner.$fields
    caller.$borrowed = inner.$own || inner.$borrowed
    caller.$own = false
  },
  cancel({ $work }, reason) {
    $work?.abandon(reason)
  },
}

/**
 * Returns the denial or the suspension of the call. A denial overrides a suspension, and both override a layer's return
 * value.
 */
function stickyResult({ $call: call, $hook }: ToolAttempt): ToolResult | undefined {
  call.applyDecision($hook?.name)
  return call.denied ?? call.suspended
}

function resultOf(attempt: ToolAttempt, value: unknown): ToolResult {
  const sticky = stickyResult(attempt)
  if (sticky !== undefined) return sticky
  const reached = attempt.$inner?.$state === State.done
  if (value !== undefined) return toResult(attempt, value, reached ? 'ok' : 'skipped')
  if (attempt.$skip !== undefined) return attempt.$skip
  const fix = 'Return what next() gave, "ctx.skipCall(result)" or "ctx.deny(reason)".'
  throw layerError(attempt, 'layer.no_result', `returned nothing. ${fix}`)
}
