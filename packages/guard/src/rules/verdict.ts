import type { BlockOptions, TurnView } from '@allium/core'
import { blockOptions, type GuardCode } from './guard-codes.ts'
import { emitFound, type GuardTarget, targetNames } from './guard-found.ts'

/** A check's verdict: nothing or `true` lets the text through, `false` blocks; or an object with the block's reason or the replacement. */
export type Verdict = void | boolean | { block: string; reply?: string; code?: string } | { replace: string }

/** Decides whether a text may pass. If it throws, the turn is blocked. */
export type Check = (text: string, ctx: TurnView, signal: AbortSignal) => Verdict | Promise<Verdict>

/** Returns the replacement of a text; undefined if it may pass. Blocks the turn if it may not. */
export function applyVerdict(
  ctx: TurnView,
  verdict: Verdict,
  { layer, where, reply, code }: { layer: string; where: GuardTarget; reply: string | undefined; code: GuardCode },
): string | undefined {
  if (verdict === undefined || verdict === true) return undefined
  // Any other value blocks, because an invalid replacement does not approve the text.
  const { replace, block, reply: replyText = reply, code: verdictCode } = (verdict || {}) as VerdictFields
  const isReplaced = typeof replace === 'string'
  emitFound(ctx, { layer, where, found: 'check', action: isReplaced ? 'replace' : 'block' })
  if (isReplaced) return replace
  const reason = typeof block === 'string' ? block : `"${layer}" refused the ${targetNames[where]}.`
  return ctx.block(reason, {
    ...blockOptions(code, { reply: replyText }),
    ...(verdictCode !== undefined && { code: verdictCode }),
  })
}

interface VerdictFields extends Pick<BlockOptions, 'reply' | 'code'> {
  replace?: unknown
  block?: unknown
}

/** Returns a map that replaces the first text and removes the others. */
export function replaceFirst(replacement: string): (text: string) => string {
  let isFirst = true
  return () => {
    const text = isFirst ? replacement : ''
    isFirst = false
    return text
  }
}
