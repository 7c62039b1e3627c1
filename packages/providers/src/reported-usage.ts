import type { Usage } from '@allium/core'
import type { AiSdkModel } from './ai-sdk-model.ts'
import type { FinishPart } from './finish.ts'

/** Returns what packages report beside the AI SDK's own counts: the cost, and the cache writes that are kept for an hour. */
export function reportedUsage({ usage = {}, providerMetadata = {} }: FinishPart, model: AiSdkModel): Partial<Usage> {
  const { openrouter, llmgateway, perplexity, xai, anthropic, bedrock } = providerMetadata as Metadata
  const raw = (usage.raw ?? {}) as RawUsage
  const cost =
    withOwnKey(openrouter?.usage?.cost ?? (model.provider.startsWith('openrouter') ? raw.cost : undefined), raw) ??
    llmgateway?.usage?.cost ??
    perplexity?.cost?.totalCost ??
    (xai?.costInUsdTicks && xai.costInUsdTicks / 10_000_000_000)
  const hourDetail = bedrock?.usage?.cacheDetails?.find(({ ttl }) => ttl === '1h')
  const hours = anthropic?.usage?.cache_creation?.ephemeral_1h_input_tokens ?? hourDetail?.inputTokens
  const reported: Partial<Usage> = {}
  if (cost !== undefined) reported.reportedCost = cost
  if (hours) reported.cacheWriteHourTokens = hours
  return reported
}

/** If OpenRouter used your key of a provider, its cost is only its fee, and the provider charges you the rest. */
function withOwnKey(cost: number | null | undefined, { is_byok, cost_details }: RawUsage): number | undefined {
  const rest = is_byok === true ? (cost_details?.upstream_inference_cost ?? 0) : 0
  return typeof cost === 'number' ? cost + rest : undefined
}

interface RawUsage {
  cost?: number | null
  is_byok?: boolean
  cost_details?: { upstream_inference_cost?: number | null }
}
interface Metadata {
  openrouter?: { usage?: { cost?: number | null } }
  llmgateway?: { usage?: { cost?: number } }
  perplexity?: { cost?: { totalCost?: number | null } | null }
  xai?: { costInUsdTicks?: number }
  anthropic?: { usage?: { cache_creation?: { ephemeral_1h_input_tokens?: number } | null } | null }
  bedrock?: { usage?: { cacheDetails?: { ttl: string; inputTokens: number }[] } }
}
