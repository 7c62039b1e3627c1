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
  /** The reason in the provider's own event. */
  eventReason?: string | undefined
  /** Whether the finish must have the provider's reason or its usage, so that no tool runs from a truncated stream. */
  mustBeProven?: boolean
}

/**
 * Returns the last chunk.
 *
 * @throws AlliumError `model.truncated` when the provider's package finished a truncated stream normally, which shows only in a
 * reason that the provider never sent; `model.failed` when the provider ended with an error
 */
export function toFinish(part: FinishPart, info: FinishInfo = {}): FinishChunk {
  const { responseId, warnings } = info
  const usage = toUsage(part)
  const reason = toReason(part.finishReason, info.eventReason)
  const { unified, raw, isRaw } = reason
  if (isUnfinished(reason, usage, info)) throw truncatedStream()
  if (unified === 'error' || failed.test(raw ?? ''))
    throw Object.assign(
      new AlliumError(
        'model.failed',
        `The provider ended the answer with an error${raw === undefined ? '' : ` (${raw})`}.`,
        { details: { usage } },
      ),
      { isRetryable: !lasting.test(raw ?? '') },
    )
  const finish: FinishChunk = { type: 'finish', reason: knownReason(unified), usage }
  if (isRaw && raw !== undefined) finish.rawReason = raw
  if (raw === 'pause_turn') finish.paused = true
  if (responseId !== undefined) finish.responseId = responseId
  if (part.providerMetadata !== undefined) finish.providerMetadata = part.providerMetadata
  if (warnings !== undefined && warnings.length > 0) finish.warnings = warnings
  return finish
}

/** Reasons of failures that packages report as an end like any other: of OpenRouter, vLLM, DeepSeek, Cohere, Gemini, Bedrock, xAI. */
const failed =
  /^(error|abort|failed|timeout|cancell?ed|user_cancel|network_error|insufficient_system_resource|malformed_|unexpected_tool_call)/i
/** The failures among them that the same request meets again, or that somebody wanted. */
const lasting = /toxic|limit|cancel/i

interface Reason {
  unified: string
  /** The provider's own reason, or the one of a v2 package. */
  raw: string | undefined
  isRaw: boolean
}

/** Whether the last event was not the end: it had no reason, the answer was in progress, or the package made the reason up. */
function isUnfinished(
  { unified, raw, isRaw }: Reason,
  usage: Partial<Usage>,
  { eventReason, mustBeProven }: FinishInfo,
) {
  const { inputTokens, outputTokens } = usage
  if (unified === 'interrupted' || raw === 'stream-truncated') return true
  if (unified === 'other' && (raw === undefined || raw === 'in_progress' || raw === 'queued')) return true
  // Requesty's package begins with this reason.
  if (raw === '') return !inputTokens && !outputTokens
  if (mustBeProven !== true || eventReason !== undefined) return false
  // OpenRouter's package ends a call of a truncated stream with `{}` and `tool-calls`, that of Helicone with `{}`, `stop` and no tokens.
  return isRaw
    ? raw === undefined && Object.keys(usage).length === 0
    : unified === 'stop' && inputTokens === 0 && outputTokens === 0
}

/** v2's `unknown` means that the provider sent no known reason; v2 never has the provider's original reason. */
function toReason(given: FinishPart['finishReason'], eventReason: string | undefined): Reason {
  const reason = given ?? 'unknown'
  const isRaw = typeof reason === 'object'
  const { unified = 'other', raw } = isRaw
    ? reason
    : { unified: reason, raw: reason === 'unknown' ? undefined : reason }
  const isMissing = raw === undefined && (unified === 'other' || unified === 'unknown')
  return { unified: isMissing ? (eventReason ?? 'other').replace('_', '-') : unified, raw: raw ?? eventReason, isRaw }
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
