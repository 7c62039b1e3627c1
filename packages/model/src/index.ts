export { type ModelRetry, type RetryOptions, retry } from './retry.ts'
export { isTransient } from './transient.ts'
