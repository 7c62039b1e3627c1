import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'

/** The real SDK, with metrics in memory. */
export function memoryMetrics() {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const provider = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] })
  /** Returns all metrics, and ends the measuring. */
  const all = async (): Promise<MetricData[]> => {
    await provider.forceFlush()
    const last = exporter.getMetrics().at(-1)
    await provider.shutdown()
    return last?.scopeMetrics.flatMap(({ metrics }) => metrics) ?? []
  }
  /** Returns the attributes of each point of a metric, its sum and its count; a counter has no count. */
  const points = async (name: string) => {
    const found = (await all()).find(({ descriptor }) => descriptor.name === name)
    return (found?.dataPoints ?? []).map(({ attributes, value }) =>
      typeof value === 'object' && 'count' in value ? [attributes, value.sum, value.count] : [attributes, value],
    )
  }
  return { meter: provider.getMeter('test'), provider, all, points }
}
