// Makes the bundler put what the entries share into one file.
import './index.ts'

export { type MetricsOptions, metrics } from './otel/metrics.ts'
export { type TraceOptions, trace } from './otel/trace.ts'
