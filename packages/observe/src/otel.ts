// Makes the bundler put what the entries share into one file.
import './index.ts'

export type { ConventionNames } from './otel/conventions.ts'
export { type Evaluation, type EvaluationOptions, type EventLogger, recordEvaluation } from './otel/event-logger.ts'
export { type FeedbackEvaluationOptions, feedbackEvaluations } from './otel/feedback.ts'
export { type MetricsOptions, metrics } from './otel/metrics.ts'
export { type CostOptions, type TraceOptions, trace } from './otel/trace.ts'
