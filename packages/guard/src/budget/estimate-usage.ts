import { estimateInputTokens, type ModelContext, type Usage } from '@allium/core'

export type TokenEstimate = Pick<Usage, 'inputTokens' | 'outputTokens'>

/** Returns the default estimate of a call's tokens. */
export function estimateUsage({ request }: ModelContext): TokenEstimate {
  return { inputTokens: estimateInputTokens(request), outputTokens: request.settings.maxOutputTokens ?? 1_024 }
}
