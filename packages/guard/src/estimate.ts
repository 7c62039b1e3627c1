import type { ContentChunk, ModelContext, ModelResponse, Usage } from '@allium/core'
import { inputTokens, tokensOf } from './tokens.ts'

export type Amounts = Pick<Usage, 'inputTokens' | 'outputTokens'>

/** The tokens that a call may use, where nobody says better. */
export function expected({ request }: ModelContext): Amounts {
  return { inputTokens: inputTokens(request), outputTokens: request.settings.maxOutputTokens ?? 1_024 }
}

/** The usage as the provider told it; a count that it left out or told as nonsense comes as 0, and is estimated. */
export function told({ usage }: ModelResponse, held: Amounts, chars: number): Usage {
  if (usage.calls === 0) return usage
  return {
    ...usage,
    inputTokens: usage.inputTokens || held.inputTokens,
    outputTokens: usage.outputTokens || tokensOf(chars),
  }
}

/** The usage of a call that failed: nothing where it did before the first chunk, else its input and what was streamed. */
export function cutShort(held: Amounts, chars: number): Usage {
  if (chars === 0) return { inputTokens: 0, outputTokens: 0, calls: 0 }
  return { inputTokens: held.inputTokens, outputTokens: tokensOf(chars), calls: 1 }
}

/** Counts the characters that the provider has streamed; to be called before `next()`. */
export function countChars(ctx: Pick<ModelContext, 'onChunk'>): () => number {
  let chars = 0
  ctx.onChunk((chunk) => {
    chars += charsOf(chunk)
  })
  return () => chars
}

function charsOf(chunk: ContentChunk): number {
  switch (chunk.type) {
    case 'text-delta':
    case 'reasoning-delta':
    case 'tool-input-delta':
      return chunk.delta.length
    case 'tool-input-start':
    case 'tool-input-end':
    case 'tool-result':
    case 'file':
    case 'source':
    case 'custom':
      return 0
    default:
      return charged(chunk)
  }
}

/** A kind that a newer core knows is charged as a whole: rather too much than nothing. */
function charged(chunk: never): number {
  return JSON.stringify(chunk).length
}
