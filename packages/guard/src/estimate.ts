import { estimateInputTokens, type ModelContext, type Usage } from '@allium/core'

export type Amounts = Pick<Usage, 'inputTokens' | 'outputTokens'>

/** The tokens that a call may use, where nobody says better. */
export function expected({ request }: ModelContext): Amounts {
  return { inputTokens: estimateInputTokens(request), outputTokens: request.settings.maxOutputTokens ?? 1_024 }
}
