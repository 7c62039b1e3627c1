import { type Histogram, type Meter, metrics } from '@opentelemetry/api'
import { metricNames } from './names.ts'

export interface Instruments {
  readonly operations: Histogram
  readonly firstChunks: Histogram
  readonly tokens: Histogram
  readonly agents: Histogram
  readonly tools: Histogram
}

/** Creates the instruments of a meter, by default the application's. */
export function makeInstruments(meter: Meter = metrics.getMeter('@allium/observe')): Instruments {
  const seconds = (name: string, description: string) =>
    meter.createHistogram(name, { description, unit: 's', advice: { explicitBucketBoundaries: durationBuckets } })
  return {
    operations: seconds(metricNames.operationDuration, 'Time of a model call'),
    firstChunks: seconds(metricNames.firstChunk, 'Time until a model call sent its first chunk'),
    agents: seconds(metricNames.agentDuration, 'Time of a turn'),
    tools: seconds(metricNames.toolDuration, 'Time of a tool call'),
    tokens: meter.createHistogram(metricNames.tokenUsage, {
      description: 'Tokens of a model call',
      unit: '{token}',
      advice: { explicitBucketBoundaries: tokenBuckets },
    }),
  }
}

/** The buckets of the conventions: powers of 2 from 10 ms, and of 4. */
const durationBuckets = Array.from({ length: 14 }, (_, i) => 2 ** i / 100)
const tokenBuckets = Array.from({ length: 14 }, (_, i) => 4 ** i)
