export { type MetricsOptions, metrics } from './otel/metrics.ts'
export { type TraceOptions, trace } from './otel/trace.ts'
