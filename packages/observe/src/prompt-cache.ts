// Makes the bundler put what the entries share into one file.
import './index.ts'

export type { ObservePromptCache } from './prompt-cache/event.ts'
export type { PromptCacheBreak } from './prompt-cache/find-breaks.ts'
export { type PromptCacheOptions, promptCache } from './prompt-cache/prompt-cache.ts'
