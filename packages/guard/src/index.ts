export type { Finding, Span } from '@allium/shared/detect'
export type { Price, Prices } from '@allium/shared/prices'

// Personal data

export type { PiiType } from './pii/detectors.ts'
export { type PiiOptions, type PiiStrategy, pii } from './pii/pii.ts'
export type { PiiVault } from './pii/placeholders.ts'

// Where data may flow

export { type FlowEvent, type FlowOptions, type FlowSource, type FlowState, flow } from './flow/flow.ts'

// Content of messages

export { type ContentOptions, content, type FindingState } from './content/content.ts'
export type { DetectorOptions } from './content/detector.ts'
export { type FilesOptions, files } from './content/files.ts'
export { type InjectionOptions, type InjectionState, injection } from './content/injection.ts'
export type { InjectionDetector } from './content/injection-guard.ts'
export { injectionScore } from './content/injection-score.ts'

// Rules

export { type ApproveOptions, approve } from './rules/approve.ts'
export type { ApprovalRequest, HandlerDecision } from './rules/ask-handler.ts'
export type { FailureOptions } from './rules/failure-options.ts'
export { type GuardCode, guardCodes } from './rules/guard-codes.ts'
export type { GuardFound, GuardTarget } from './rules/guard-found.ts'
export { type InputOptions, input } from './rules/input.ts'
export { type JudgeOptions, type JudgeState, judge } from './rules/judge.ts'
export { type OutputOptions, output } from './rules/output.ts'
export { type ArgumentTest, type PolicyOptions, type PolicyRule, policy } from './rules/policy.ts'
export type { Judged } from './rules/text-judge.ts'
export type { Check, Verdict } from './rules/verdict.ts'

// Limits

export type { Per, Window } from './limits/account.ts'
export type { BudgetCut } from './limits/budget/run-record.ts'
export {
  type BudgetEvent,
  type BudgetExceeded,
  type BudgetOptions,
  type BudgetState,
  budget,
  type OnLimit,
} from './limits/budget.ts'
export {
  type ConcurrencyOptions,
  type ConcurrencyRefused,
  type ConcurrencyState,
  concurrency,
} from './limits/concurrency.ts'
export type { LimitOptions } from './limits/limit-options.ts'
export { type MaxModelCallsOptions, maxModelCalls } from './limits/max-model-calls.ts'
export { type MaxToolCallsOptions, maxToolCalls } from './limits/max-tool-calls.ts'
export { type RateLimitOptions, type RateLimitState, rateLimit } from './limits/rate-limit.ts'
export type { OnRateLimit, RateLimitEvent } from './limits/rate-limiter.ts'
export type { Rate } from './limits/rate-rule.ts'
export type { RateStore } from './limits/rate-store.ts'
export { type TimeoutOptions, timeout } from './limits/timeout.ts'
