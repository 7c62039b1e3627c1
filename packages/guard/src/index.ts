export type { Price, Prices } from '@allium/prices'
export type { Per, Window } from './account.ts'
export { type ApprovalRequest, type ApproveOptions, approve } from './approve.ts'
export { type BudgetExceeded, type BudgetOptions, type BudgetState, budget, type OnLimit } from './budget.ts'
export { type ConcurrencyOptions, type ConcurrencyRefused, type ConcurrencyState, concurrency } from './concurrency.ts'
export type { FailureOptions } from './decide.ts'
export { type MaxModelCallsOptions, maxModelCalls } from './max-model-calls.ts'
export { type MaxToolCallsOptions, maxToolCalls } from './max-tool-calls.ts'
export { type ArgumentTest, type PolicyOptions, type PolicyRule, policy } from './policy.ts'
export {
  type OnRateLimit,
  type Rate,
  type RateLimited,
  type RateLimitOptions,
  type RateLimitState,
  type RateStore,
  rateLimit,
} from './rate-limit.ts'
export { type TimeoutOptions, timeout } from './timeout.ts'
