import { AlliumError } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { Counter, Meter, ObservableGauge } from '@opentelemetry/api'
import type { DurableEvent } from '../host/durable-event.ts'
import type { Operations } from '../operations/operations.ts'
import type { RunGroup } from '../operations/summary.ts'
import { type CounterName, counterNames, descriptions, incrementsOf, type Labels } from './counters.ts'
import { type Family, prometheusText } from './prometheus-text.ts'

export interface DurableMetricsOptions {
  /** The result of `operations()`. With it, there are gauges of the open runs: their number and the age of the oldest one. @default none */
  operations?: Pick<Operations, 'summary'> | undefined
  /** Records to OpenTelemetry, too: `metrics.getMeter('my-app')` of `@opentelemetry/api`. @default none */
  meter?: Meter | undefined
}

export interface DurableMetrics {
  /** Pass it to `durable()`. */
  onEvent(event: DurableEvent): void
  /** Returns the metrics in Prometheus' text format. If the store fails, `allium_durable_store_up` is 0 and the gauges are missing. */
  prometheus(): Promise<string>
}

const optionKeys: KeysOf<DurableMetricsOptions> = { operations: true, meter: true }

/**
 * Counts the claims, takeovers, repeated steps, ends, dead letters and deletions of durable runs in this process, for Prometheus and
 * OpenTelemetry. With `operations`, it also measures the open runs of all processes.
 *
 * @throws AlliumError `options.invalid`
 * @example
 * const metrics = durableMetrics({ operations: operations({ store }) })
 * const runs = durable(agent, { store, onEvent: metrics.onEvent })
 * const text = await metrics.prometheus()
 */
export function durableMetrics(options: DurableMetricsOptions = {}): DurableMetrics {
  checkOptions(options, optionKeys, 'durableMetrics()', 'options.invalid')
  const { operations, meter } = options
  if (operations !== undefined && typeof operations.summary !== 'function')
    throw new AlliumError('options.invalid', 'durableMetrics() takes operations: operations({ store }).')
  const counts = new Map<CounterName, Map<string, { labels: Labels; value: number }>>()
  const counters = meter && otelCounters(meter)
  const openRuns = operations && (async () => (await operations.summary({ open: true })).groups)
  if (meter !== undefined && openRuns !== undefined) observeGauges(meter, openRuns)
  return {
    onEvent(event) {
      for (const { name, labels, by } of incrementsOf(event)) {
        const samples = counts.get(name) ?? new Map()
        counts.set(name, samples)
        const key = JSON.stringify(labels)
        samples.set(key, { labels, value: (samples.get(key)?.value ?? 0) + by })
        counters?.[name].add(by, { ...labels })
      }
    },
    async prometheus() {
      const counted = counterNames.map((name): Family => {
        const samples = [...(counts.get(name)?.values() ?? [])]
        return { name: `allium_durable_${name}_total`, type: 'counter', help: descriptions[name], samples }
      })
      return prometheusText([...counted, ...(openRuns === undefined ? [] : await gauges(openRuns))])
    },
  }
}

type OpenRuns = () => Promise<readonly RunGroup[]>

const depth = 'Durable runs that have not ended'
const age = 'Age of the oldest durable run: since it is due, or since it was claimed, in seconds'

async function gauges(openRuns: OpenRuns): Promise<Family[]> {
  const groups = await openRuns().catch(() => undefined)
  const up = { labels: {}, value: groups === undefined ? 0 : 1 }
  const gauge = (name: string, help: string, samples: Family['samples']): Family => ({
    ...{ name: `allium_durable_${name}`, type: 'gauge', help, samples },
  })
  const store = gauge('store_up', 'Whether the store answered', [up])
  if (groups === undefined) return [store]
  const perGroup = (value: (group: RunGroup) => number) =>
    groups.map((group) => ({ labels: labelsOf(group), value: value(group) }))
  return [
    store,
    gauge(
      'runs',
      depth,
      perGroup(({ count }) => count),
    ),
    gauge(
      'oldest_seconds',
      age,
      perGroup(({ oldestAge }) => oldestAge / 1000),
    ),
  ]
}

function labelsOf({ status, agent, version, queue }: RunGroup): Labels {
  return { status, agent, version, queue }
}

function otelCounters(meter: Meter): Readonly<Record<CounterName, Counter>> {
  const counters = counterNames.map((name) => [
    name,
    meter.createCounter(`allium.durable.${name}`, { description: descriptions[name], unit: '{run}' }),
  ])
  return Object.fromEntries(counters) as Record<CounterName, Counter>
}

/** One query of the store for each collection. */
function observeGauges(meter: Meter, openRuns: OpenRuns): void {
  const runs: ObservableGauge = meter.createObservableGauge('allium.durable.runs', {
    description: depth,
    unit: '{run}',
  })
  const oldest: ObservableGauge = meter.createObservableGauge('allium.durable.oldest', { description: age, unit: 's' })
  meter.addBatchObservableCallback(
    async (result) => {
      for (const group of await openRuns()) {
        result.observe(runs, group.count, { ...labelsOf(group) })
        result.observe(oldest, group.oldestAge / 1000, { ...labelsOf(group) })
      }
    },
    [runs, oldest],
  )
}
