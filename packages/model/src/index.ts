export { type FallbackOptions, fallback, type ModelFallback } from './fallback.ts'
export { type DeepPartial, objectStream, type PartialAnswer } from './object-stream.ts'
export { type ModelRetry, type RetryOptions, retry } from './retry.ts'
export { isTransient } from './transient.ts'
