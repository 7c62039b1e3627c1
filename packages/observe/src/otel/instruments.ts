import { type Attributes, type Meter, metrics } from '@opentelemetry/api'
import { alliumNames, attributesOf, type Values } from './conventions.ts'
import type { Conventions, MetricKey, MetricNames } from './names.ts'

/** The instruments of a meter, by default the application's. */
export class Instruments {
  readonly #conventions: Conventions
  readonly #lost: (tokens: number, attributes: Attributes) => void
  readonly #decided: (count: number, attributes: Attributes) => void
  readonly #record = new Map<string, (value: number, attributes: Attributes) => void>()

  constructor(conventions: Conventions, meter: Meter = metrics.getMeter('@allium/observe')) {
    this.#conventions = conventions
    for (const [key, names] of Object.entries(conventions.metrics)) this.#record.set(key, instrument(meter, names))
    const counter = (name: string, unit: string, description: string) =>
      instrument(meter, { name, instrument: 'counter', unit, description })
    this.#lost = counter(
      alliumNames.lostTokens,
      '{token}',
      'Estimated input tokens that a changed prompt lost from the cache.',
    )
    this.#decided = counter(alliumNames.decisions, '{verdict}', 'Verdicts of rollouts.')
  }

  /** Counts a verdict of a rollout. */
  decided(attributes: Attributes): void {
    this.#decided(1, attributes)
  }

  /** Records a value, with the attributes that the metric may have and with attributes of Allium. */
  record(key: MetricKey, value: number, values: Values, attributes: Attributes = {}): void {
    const names = this.#conventions.metrics[key]
    if (names === undefined) return
    this.#record.get(key)?.(value, { ...attributesOf(this.#conventions, names.attributes, values), ...attributes })
  }

  /** Counts tokens that a changed prompt has lost. */
  lost(tokens: number, model: Values, attributes: Attributes): void {
    this.#lost(tokens, { ...attributesOf(this.#conventions, ['provider', 'requestModel'], model), ...attributes })
  }
}

function instrument(meter: Meter, { name, instrument: kind, unit, description }: Omit<MetricNames, 'attributes'>) {
  if (kind === 'counter') {
    const counter = meter.createCounter(name, { description, unit })
    return (value: number, attributes: Attributes) => counter.add(value, attributes)
  }
  const advice = { explicitBucketBoundaries: buckets[unit] ?? countBuckets }
  const histogram = meter.createHistogram(name, { description, unit, advice })
  return (value: number, attributes: Attributes) => histogram.record(value, attributes)
}

/** The buckets of the conventions: powers of 2 from 10 ms, and powers of 4. */
const buckets: Readonly<Record<string, number[]>> = {
  s: Array.from({ length: 14 }, (_, i) => 2 ** i / 100),
  '{token}': Array.from({ length: 14 }, (_, i) => 4 ** i),
}
const countBuckets = Array.from({ length: 10 }, (_, i) => 2 ** i)
