import type { AttributeValue } from '@opentelemetry/api'
import { DataPointType } from '@opentelemetry/sdk-metrics'
import { describe, expect, it } from 'vitest'
import v145 from '../../conventions/1.45.json' with { type: 'json' }
import latest from '../../conventions/latest.json' with { type: 'json' }
import type { ConventionNames } from '../../src/otel.ts'
import { runEverything } from './emitted.ts'
import { memoryMetrics } from './measuring.ts'
import type { Table } from './names-file.ts'
import { memoryTracing } from './tracing.ts'

const tables: Record<ConventionNames, Table> = { latest, '1.45': v145 }
const operations = { invoke_agent: 'turn', chat: 'inference', execute_tool: 'tool' } as const

/** What a run emits: spans, metrics and events, each with its attributes. */
async function emittedBy(names: ConventionNames) {
  const { tracer, spans } = memoryTracing()
  const { meter, all } = memoryMetrics()
  const events = await runEverything(names, tracer, meter)
  return { spans: spans(), metrics: await all(), events }
}

/** Returns the attributes that a row of the table does not list, or that have another type. */
function wrongIn(table: Table, keys: string, attributes: Readonly<Record<string, unknown>>): string[] {
  const types = new Map(
    `${keys} user session`.split(' ').map((key) => [table.attributes[key]?.name, table.attributes[key]?.type]),
  )
  return Object.entries(attributes)
    .filter(([name]) => !name.startsWith('allium.'))
    .flatMap(([name, value]) => {
      const expected = types.get(name)
      return expected !== undefined && hasType(value, expected) ? [] : [`${name}: ${typeof value}, ${expected}`]
    })
}

function hasType(value: unknown, type: string): boolean {
  if (type === 'int') return Number.isInteger(value)
  if (type === 'double') return typeof value === 'number'
  if (type === 'string[]') return Array.isArray(value) && value.every((item) => typeof item === 'string')
  // `any` is an object; attributes of spans in JavaScript hold it as JSON.
  return typeof value === (type === 'any' ? 'string' : type)
}

describe.each(['latest', '1.45'] as const)('what a run emits by the names %s', (names) => {
  const table = tables[names]

  it('has no attribute of a span that the conventions do not list for it, and none of another type', async () => {
    const { spans } = await emittedBy(names)
    const rowOf = ({ attributes }: (typeof spans)[number]) =>
      table.spans[operations[attributes['gen_ai.operation.name'] as keyof typeof operations]]
    expect(spans.flatMap((span) => wrongIn(table, rowOf(span)?.attributes ?? '', span.attributes))).toEqual([])
    const kinds = ['internal', 'server', 'client']
    expect(spans.filter((span) => kinds[span.kind] !== rowOf(span)?.kind)).toEqual([])
  })

  it('has no metric that the conventions do not list, with their instrument, unit and attributes', async () => {
    const { metrics } = await emittedBy(names)
    const rows = Object.values(table.metrics)
    for (const { descriptor, dataPointType, dataPoints } of metrics) {
      const row = rows.find(({ name }) => name === descriptor.name)
      const instrument = dataPointType === DataPointType.HISTOGRAM ? 'histogram' : 'counter'
      expect({ name: descriptor.name, unit: descriptor.unit, instrument }).toMatchObject({
        name: row?.name,
        unit: row?.unit,
        instrument: row?.instrument,
      })
      expect(dataPoints.flatMap(({ attributes }) => wrongIn(table, row?.attributes ?? '', attributes))).toEqual([])
    }
  })

  it('has no event that the conventions do not list, with their severity and attributes', async () => {
    const { events } = await emittedBy(names)
    for (const { eventName, severityText, attributes } of events) {
      const row = Object.values(table.events).find(({ name }) => name === eventName)
      expect([eventName, severityText]).toEqual([row?.name, row?.severity])
      expect(wrongIn(table, row?.attributes ?? '', attributes)).toEqual([])
    }
  })

  it('has every row of the table', async () => {
    const { spans, metrics, events } = await emittedBy(names)
    const points = metrics.flatMap(({ dataPoints }) => dataPoints.map(({ attributes }) => ({ attributes })))
    const seen = new Set([...spans, ...points, ...events].flatMap(({ attributes }) => Object.keys(attributes)))
    const rows = Object.values(table.attributes).map(({ name }) => name)
    expect(rows.filter((name) => !seen.has(name))).toEqual([])
    expect(metrics.map(({ descriptor }) => descriptor.name).sort()).toEqual(
      Object.values(table.metrics)
        .map(({ name }) => name)
        .sort(),
    )
    expect(new Set(events.map(({ eventName }) => eventName))).toEqual(
      new Set(Object.values(table.events).map(({ name }) => name)),
    )
  })
})

it('writes parts without a type of their own as generic ones', async () => {
  const { spans } = await emittedBy('latest')
  const inputs = spans.map(({ attributes }): AttributeValue | undefined => attributes['gen_ai.input.messages'])
  expect(inputs.join()).toContain('{"type":"generic","generic_type":"image","mime_type":"image/png"}')
})
