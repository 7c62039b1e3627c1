import type { PromptCacheBreak } from './find-breaks.ts'

/** The prompt of a call does not begin as the prompt of the call before, so the provider's cache has only a part of it. */
export interface ObservePromptCache {
  type: 'observe:promptCache'
  /** The layer that watches. */
  layer: string
  model: string
  /** The number of the model call in its turn, from 0. */
  callIndex: number
  /** The difference with the largest loss: which layer, from which token on, how many tokens. */
  first: PromptCacheBreak
  /** All differences, outermost layer first. Each one would remain without the others. */
  breaks: PromptCacheBreak[]
  /** The estimated tokens of the prompt. */
  promptTokens: number
  /** The estimated cost in USD of the lost tokens, compared with reading them from the cache. Undefined without a known price. */
  cost?: number
  /** The tokens that the provider has read from its cache; undefined if it does not count them. */
  cachedTokens?: number
  /** Whether `cachedTokens` agrees. If it is false, the provider has read more than the estimate allows. */
  confirmed?: boolean
}

declare module '@allium/core' {
  interface AgentEvents {
    'observe:promptCache': ObservePromptCache
  }
}
