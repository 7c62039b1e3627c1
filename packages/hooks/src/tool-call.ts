import { AlliumError, type ToolContext, type ToolResult, type ToolResultInput } from '@allium/core'
import { isThenable, resultOf } from '@allium/core/internal'
import type { BoundHook } from './chain.ts'
import type { HookContext } from './hook-context.ts'
import type { ToolCallDecision, ToolCallInfo, ToolCallOutcome } from './tool-info.ts'

/** Calls the hooks to decide whether a tool runs, and with which arguments. Returns the result of a call that one of them skips. */
export async function decideCall(
  hooks: readonly BoundHook[],
  run: HookContext,
  ctx: ToolContext,
): Promise<ToolResult | undefined> {
  let info = infoOf(ctx)
  for (const { name, call } of hooks) {
    const returned = call(run, info)
    const decision = (isThenable(returned) ? await returned : returned) as ToolCallDecision | null | undefined
    if (decision === undefined || decision === null) continue
    switch (decision.type) {
      case 'transformArgs':
        ctx.modifyArgs(() => decision.args)
        info = infoOf(ctx)
        break
      case 'skip':
        return ctx.skipCall(asResult(ctx.callId, decision.result))
      case 'abort':
        return ctx.abort(decision.reason)
      default:
        throw unknown(name, decision)
    }
  }
}

/** Returns a call with its outcome. */
export function outcomeOf(ctx: ToolContext, result: ToolResult, duration: number): ToolCallOutcome {
  return { ...infoOf(ctx), result, ok: result.isError !== true, duration }
}

function infoOf(ctx: ToolContext): ToolCallInfo {
  const { tool, callId, args, invalid, attempt } = ctx
  return { name: tool.name, callId, args, tool, invalid, attempt }
}

/** Converts any value to a result, as if the tool had returned it. */
function asResult(callId: string, value: unknown): ToolResultInput {
  const { content, isError } = resultOf(callId, value)
  return isError === true ? { content, isError, value } : { content, value }
}

function unknown(hook: string, decision: unknown): AlliumError {
  return new AlliumError(
    'layer.result',
    `onBeforeToolCall of "${hook}" returned ${typeof decision === 'object' ? `{ type: ${String((decision as { type?: unknown }).type)} }` : typeof decision}. Return nothing, { type: 'transformArgs', args }, { type: 'skip', result } or { type: 'abort', reason }.`,
    { details: { layer: hook } },
  )
}
