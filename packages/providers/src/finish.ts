import {
  AlliumError,
  type FinishChunk,
  type FinishReason,
  type ModelWarning,
  type ProviderMetadata,
  type Usage,
} from '@allium/core'
import { isRecord } from '@allium/core/internal'
import { truncatedStream } from './failure.ts'

/** The `finish` part of any version: v2 has a flat usage and a plain reason, later ones nest both. */
export interface FinishPart {
  finishReason?: string | { unified?: string; raw?: string }
  usage?: { [key: string]: unknown }
  providerMetadata?: ProviderMetadata
}

/** Information about the whole answer from parts before the finish. */
export interface FinishInfo {
  responseId?: string
  warnings?: ModelWarning[]
}

/**
 * Returns the last chunk.
 *
 * @throws AlliumError `model.truncated` when the provider's package finished a truncated stream normally, which shows only in a
 * reason that the provider never sent; `model.failed` when the provider ended with an error
 */
export function toFinish(part: FinishPart, { responseId, warnings }: FinishInfo = {}): FinishChunk {
  const usage = toUsage(part)
  const { unified, raw, isRaw } = toReason(part.finishReason)
  if (unified === 'interrupted' || (unified === 'other' && isUnfinished(raw))) throw truncatedStream()
  if (unified === 'error')
    throw new AlliumError(
      'model.failed',
      `The provider ended the answer with an error${raw === undefined ? '' : ` (${raw})`}.`,
      { details: { usage } },
    )
  const finish: FinishChunk = { type: 'finish', reason: knownReason(unified), usage }
  if (isRaw && raw !== undefined) finish.rawReason = raw
  if (raw === 'pause_turn') finish.paused = true
  if (responseId !== undefined) finish.responseId = responseId
  if (part.providerMetadata !== undefined) finish.providerMetadata = part.providerMetadata
  if (warnings !== undefined && warnings.length > 0) finish.warnings = warnings
  return finish
}

/** Whether the last event was not the end: it had no reason, or the answer was in progress. */
function isUnfinished(raw: string | undefined): boolean {
  return raw === undefined || raw === 'in_progress' || raw === 'queued'
}

/** v2's `unknown` means that the provider sent no reason; v2 never has the provider's original reason. */
function toReason(reason: FinishPart['finishReason']): { unified: string; raw: string | undefined; isRaw: boolean } {
  if (typeof reason === 'object' && reason !== null)
    return { unified: reason.unified ?? 'other', raw: reason.raw, isRaw: true }
  return reason === 'unknown' || reason === undefined
    ? { unified: 'other', raw: undefined, isRaw: false }
    : { unified: reason, raw: reason, isRaw: false }
}

function knownReason(reason: string): FinishReason {
  return reason === 'stop' || reason === 'length' || reason === 'tool-calls' || reason === 'content-filter'
    ? reason
    : 'other'
}

function toUsage({ usage = {}, providerMetadata }: FinishPart): Partial<Usage> {
  const { inputTokens: input, outputTokens: output } = usage
  if (isRecord(input) || isRecord(output)) {
    const { total, cacheRead, cacheWrite } = isRecord(input) ? input : {}
    const { total: outputTokens, reasoning } = isRecord(output) ? output : {}
    return usageCounts({
      inputTokens: total,
      outputTokens,
      cachedInputTokens: cacheRead,
      cacheWriteTokens: cacheWrite,
      reasoningTokens: reasoning,
    })
  }
  const { cachedInputTokens, reasoningTokens } = usage
  const cacheWriteTokens = providerMetadata?.anthropic?.cacheCreationInputTokens
  const flat = usageCounts({
    inputTokens: input,
    outputTokens: output,
    cachedInputTokens,
    cacheWriteTokens,
    reasoningTokens,
  })
  // Anthropic's v2 package counts cached tokens separately from the input tokens.
  if (providerMetadata?.anthropic !== undefined && flat.inputTokens !== undefined)
    flat.inputTokens += (flat.cachedInputTokens ?? 0) + (flat.cacheWriteTokens ?? 0)
  return flat
}

function usageCounts(given: Record<string, unknown>): Partial<Usage> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => typeof value === 'number'))
}
