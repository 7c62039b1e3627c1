import type { ModelContext, ModelResponse } from '@allium/core'
import { blockOptions, type GuardCode } from '../rules/guard-codes.ts'

/** Ends the turn in place of a model call over a limit. */
export function endTurn(
  ctx: ModelContext,
  how: 'stop' | 'block' | 'abort',
  reason: string,
  code: GuardCode,
): ModelResponse {
  if (how === 'block') return ctx.block(reason, blockOptions(code))
  if (how === 'abort') return ctx.abort(reason)
  ctx.stop(reason)
  return ctx.skipCall('')
}
