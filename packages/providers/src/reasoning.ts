import type { Settings } from '@allium/core'
import { type AiSdkModel, providerName } from './ai-sdk-model.ts'

type Effort = NonNullable<Settings['reasoning']>
type Options = NonNullable<Settings['providerOptions']>

/** Thinking tokens, for models that take a budget instead of an effort. */
const budgets: Record<Effort, number> = { low: 2048, medium: 8192, high: 24_576 }

const budgetClaude = /claude-(3-7|(opus|sonnet|haiku)-4(-[015]\b|-\d{8}|@|$))/
const thoughtlessClaude = /claude-(v?\d[.:]|instant|3-(?!7)|3\.)/
const thoughtlessGemini = /gemini-(1|2\.0|pro)/

/** Returns the effort as provider options, for specifications without a `reasoning` option; none for models known not to think. */
export function reasoningOptions(model: AiSdkModel, effort: Effort): Options {
  const { provider, modelId } = model
  if (provider.includes('anthropic')) return forClaude(modelId, effort)
  if (provider.startsWith('google')) return forGemini(modelId, effort)
  return { [providerName(model)]: { reasoningEffort: effort } }
}

function forClaude(modelId: string, effort: Effort): Options {
  if (budgetClaude.test(modelId)) return { anthropic: { thinking: { type: 'enabled', budgetTokens: budgets[effort] } } }
  if (thoughtlessClaude.test(modelId)) return {}
  return { anthropic: { thinking: { type: 'adaptive', display: 'summarized' }, effort } }
}

function forGemini(modelId: string, effort: Effort): Options {
  if (thoughtlessGemini.test(modelId)) return {}
  if (modelId.includes('gemini-2.5')) return { google: { thinkingConfig: { thinkingBudget: budgets[effort] } } }
  return { google: { thinkingConfig: { thinkingLevel: effort } } }
}
