export type { DurableEvent } from './host/durable-event.ts'
export { type DurableMetrics, type DurableMetricsOptions, durableMetrics } from './metrics/durable-metrics.ts'
