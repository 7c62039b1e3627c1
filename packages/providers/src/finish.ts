import { AlliumError, type FinishChunk, type FinishReason, type ProviderMetadata, type Usage } from '@allium/core'

/** The `finish` part of any version: v2 has a flat usage and a plain reason, later ones nest both. */
export interface FinishPart {
  finishReason?: string | { unified?: string; raw?: string }
  usage?: { [key: string]: unknown }
  providerMetadata?: ProviderMetadata
}

/**
 * The last chunk.
 *
 * @throws AlliumError `model.truncated` where the provider's package closed the books on a stream that was cut, which it
 * tells only by a reason that the provider never gave; `model.failed` where the provider ended with an error
 */
export function toFinish(part: FinishPart): FinishChunk {
  const usage = toUsage(part)
  const { unified, raw } = toReason(part.finishReason)
  if (unified === 'interrupted' || (unified === 'other' && raw === undefined)) throw truncated()
  if (unified === 'error')
    throw new AlliumError(
      'model.failed',
      `The provider ended the answer with an error${raw === undefined ? '' : ` (${raw})`}.`,
      { details: { usage } },
    )
  const finish: FinishChunk = { type: 'finish', reason: known(unified), usage }
  if (part.providerMetadata !== undefined) finish.providerMetadata = part.providerMetadata
  return finish
}

export function truncated(): AlliumError {
  return new AlliumError(
    'model.truncated',
    'The stream of the provider ended before its finish. The answer is not complete: repeat the call.',
  )
}

/** v2's `unknown` says that the provider gave no reason. */
function toReason(reason: FinishPart['finishReason']): { unified: string; raw: string | undefined } {
  if (typeof reason === 'object' && reason !== null) return { unified: reason.unified ?? 'other', raw: reason.raw }
  return reason === 'unknown' || reason === undefined
    ? { unified: 'other', raw: undefined }
    : { unified: reason, raw: reason }
}

function known(reason: string): FinishReason {
  return reason === 'stop' || reason === 'length' || reason === 'tool-calls' || reason === 'content-filter'
    ? reason
    : 'other'
}

function toUsage({ usage = {}, providerMetadata }: FinishPart): Partial<Usage> {
  const { inputTokens: input, outputTokens: output } = usage
  if (isRecord(input) || isRecord(output)) {
    const { total, cacheRead, cacheWrite } = isRecord(input) ? input : {}
    const { total: outputTokens, reasoning } = isRecord(output) ? output : {}
    return counts({
      inputTokens: total,
      outputTokens,
      cachedInputTokens: cacheRead,
      cacheWriteTokens: cacheWrite,
      reasoningTokens: reasoning,
    })
  }
  const { cachedInputTokens, reasoningTokens } = usage
  const cacheWriteTokens = providerMetadata?.anthropic?.cacheCreationInputTokens
  const flat = counts({
    inputTokens: input,
    outputTokens: output,
    cachedInputTokens,
    cacheWriteTokens,
    reasoningTokens,
  })
  // Anthropic's v2 package counts what went through the cache beside the input, not in it.
  if (providerMetadata?.anthropic !== undefined && flat.inputTokens !== undefined)
    flat.inputTokens += (flat.cachedInputTokens ?? 0) + (flat.cacheWriteTokens ?? 0)
  return flat
}

function counts(given: Record<string, unknown>): Partial<Usage> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => typeof value === 'number'))
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
