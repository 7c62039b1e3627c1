import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryLedger, memoryStore } from '@allium/store'
import {
  AggregationTemporality,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import * as observe from '../../src/observe.ts'
import { everyLayer, password } from './agent.ts'
import { lastOfStall, provider } from './provider.ts'

export type World = Awaited<ReturnType<typeof world>>

/** The agent, and all that is around it: a provider on this machine, a ledger, a store, an audit file, spans, logs. */
export async function world() {
  const folder = mkdtempSync(join(tmpdir(), 'every-layer-'))
  writeFileSync(join(folder, 'note.txt'), 'Seven.')
  const server = await provider()
  const ledger = memoryLedger()
  const store = memoryStore()
  const trail = observe.auditFile(join(folder, 'audit.jsonl'), { fsync: false })
  const audit = observe.audit({ sink: trail })
  const exporter = new InMemorySpanExporter()
  const tracer = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).getTracer('test')
  const measured = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const meters = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter: measured })] })
  /** The tools that ran, by session. */
  const ran = new Map<string, string[]>()
  const told = { logs: 0, leaks: [] as string[] }
  /** What callers do who leave when a stream stalls, by session. */
  const leaves = new Map<string, () => void>()
  // What tools throw is for the log alone.
  server.secrets.add(password)

  const hear = (where: string, text: string) => {
    for (const secret of server.secrets)
      if (secret !== password && text.includes(secret)) told.leaks.push(`${where}: ${text.slice(0, 200)}`)
  }
  const { agent, onion } = everyLayer({
    url: server.url,
    folder,
    ledger,
    store,
    passages: store.passages,
    audit,
    tracer,
    meter: meters.getMeter('test'),
    log(record) {
      told.logs++
      hear('log', JSON.stringify(record))
    },
    write: (line) => hear('console', line),
    cut: (tenant = '', inputTokens) => void server.tokens.set(tenant, (server.tokens.get(tenant) ?? 0) + inputTokens),
    heard(sessionId, delta) {
      if (delta.endsWith(lastOfStall)) setImmediate(() => leaves.get(sessionId)?.())
    },
    did: (sessionId, name) => ran.set(sessionId, [...(ran.get(sessionId) ?? []), name]),
  })
  await agent.init()

  return {
    agent,
    onion,
    server,
    store,
    ran,
    told,
    leaves,
    /** What was traced since the last look. */
    spans() {
      const spans = exporter.getFinishedSpans()
      exporter.reset()
      for (const { attributes, events } of spans) hear('trace', JSON.stringify([attributes, events]))
      return spans.length
    },
    /** How many calls of models were measured. */
    async measured(): Promise<number> {
      measured.reset()
      await meters.forceFlush()
      const all = measured.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
      const durations = all.find(({ descriptor }) => descriptor.name === 'gen_ai.client.inference.duration')
      return (durations?.dataPoints ?? []).reduce((sum, { value }) => sum + (value as Histogram).count, 0)
    },
    async verified() {
      await audit.flush()
      const head = audit.head()
      return observe.verify(trail, head === undefined ? {} : { head })
    },
    balance: (tenant: string) => ledger.balance(JSON.stringify(['guard:budget', tenant])),
    async close() {
      await agent.dispose()
      await trail.close()
      await meters.shutdown()
      server.close()
      rmSync(folder, { recursive: true })
    },
  }
}
