export type { Finding, Span } from '@allium/shared/detect'
export type { Price, Prices } from '@allium/shared/prices'

// Limits

export type { Per, Window } from './account.ts'
export type { BudgetCut } from './budget/run-record.ts'
export {
  type BudgetEvent,
  type BudgetExceeded,
  type BudgetOptions,
  type BudgetState,
  budget,
  type OnLimit,
} from './budget.ts'
export { type ConcurrencyOptions, type ConcurrencyRefused, type ConcurrencyState, concurrency } from './concurrency.ts'
export { type MaxModelCallsOptions, maxModelCalls } from './max-model-calls.ts'
export { type MaxToolCallsOptions, maxToolCalls } from './max-tool-calls.ts'
export type { Rate, RateStore } from './rate-counter.ts'
export {
  type OnRateLimit,
  type RateLimitEvent,
  type RateLimitOptions,
  type RateLimitState,
  rateLimit,
} from './rate-limit.ts'
export { type TimeoutOptions, timeout } from './timeout.ts'

// Rules and approvals

export { type ApprovalRequest, type ApproveOptions, approve, type HandlerDecision } from './approve.ts'
export { type GuardCode, guardCodes } from './block-options.ts'
export { type ArgumentTest, type PolicyOptions, type PolicyRule, policy } from './policy.ts'

// Content of messages

export { type ContentOptions, content, type FindingState } from './content.ts'
export type { DetectorOptions } from './detector.ts'
export { type FilesOptions, files } from './files.ts'
export type { GuardFound, GuardTarget } from './guard-found.ts'
export { type InjectionDetector, type InjectionOptions, type InjectionState, injection } from './injection.ts'
export { injectionScore } from './injection-score.ts'
export { type InputOptions, input } from './input.ts'
export { type Judged, type JudgeOptions, type JudgeState, judge } from './judge.ts'
export { type OutputOptions, output } from './output.ts'
export type { FailureOptions } from './run-check.ts'
export type { Check, Verdict } from './verdict.ts'

// Personal data, and where data may flow

export { type FlowEvent, type FlowOptions, type FlowSource, type FlowState, flow } from './flow.ts'
export type { PiiType } from './pii/detectors.ts'
export { type PiiOptions, type PiiStrategy, pii } from './pii.ts'
export type { PiiVault } from './placeholders.ts'
