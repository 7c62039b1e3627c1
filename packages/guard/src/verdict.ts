import type { BlockOptions, Message, Part, TurnContext } from '@allium/core'
import { blockOptions, type GuardCode } from './block-options.ts'
import { emitFound, type GuardTarget, targetNames } from './guard-found.ts'
import { unsupportedKind } from './unsupported-kind.ts'

/** What a check says of a text: nothing or `true` lets it through, `false` blocks; or it says why, or what stands in its place. */
export type Verdict = void | boolean | { block: string; reply?: string; code?: string } | { replace: string }

/** Says of a text whether it may pass. What it throws blocks. */
export type Check = (text: string, ctx: TurnContext, signal: AbortSignal) => Verdict | Promise<Verdict>

/** The text that stands in the place of another; undefined where it may pass. Blocks where it may not. */
export function applyVerdict(
  ctx: TurnContext,
  verdict: Verdict,
  { layer, where, reply, code }: { layer: string; where: GuardTarget; reply: string | undefined; code: GuardCode },
): string | undefined {
  if (verdict === undefined || verdict === true) return undefined
  // What is none of the verdicts blocks: a replacement that is not there is no word for the text itself.
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

/** All text of some messages, those of tool results included. */
export function textOf(messages: readonly Pick<Message, 'content'>[]): string {
  return messages.flatMap(({ content }) => textParts(content)).join('\n')
}

function textParts(content: Message['content']): string[] {
  if (typeof content === 'string') return content === '' ? [] : [content]
  return content.flatMap(textPartsOfPart)
}

function textPartsOfPart(part: Part): string[] {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text === '' ? [] : [part.text]
    case 'tool-result':
      return textParts(part.content)
    case 'tool-call':
    case 'image':
    case 'file':
    case 'custom':
      return []
    default:
      return unsupportedKind(part, 'part')
  }
}

/** A map that puts a text in the place of the first one, and takes the others away. */
export function replaceFirst(replacement: string): (text: string) => string {
  let isFirst = true
  return () => {
    const text = isFirst ? replacement : ''
    isFirst = false
    return text
  }
}
