import { estimateInputTokens, type ModelContext, type Usage } from '@allium/core'

export type TokenEstimate = Pick<Usage, 'inputTokens' | 'outputTokens'>

/** The tokens that a call may use, where nobody says better. */
export function estimateUsage({ request }: ModelContext): TokenEstimate {
  return { inputTokens: estimateInputTokens(request), outputTokens: request.settings.maxOutputTokens ?? 1_024 }
}
