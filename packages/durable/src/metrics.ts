export type { DurableEvent } from './durable-event.ts'
export { type DurableMetrics, type DurableMetricsOptions, durableMetrics } from './metrics/durable-metrics.ts'
