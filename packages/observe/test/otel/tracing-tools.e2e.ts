import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { BasicTracerProvider, InMemorySpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace-base'
import { beforeAll, expect, test } from 'vitest'
import { type TraceOptions, trace } from '../../src/otel.ts'
import { calling, scene, tool } from '../scene.ts'
import type { EmittedEvent } from './emitted.ts'
import results from './results.json' with { type: 'json' }

const folder = join(import.meta.dirname, 'backends')
const requireTool = createRequire(join(folder, 'package.json'))

/** The tools are no dependencies of the workspace. */
beforeAll(() => {
  const args = ['-y', 'pnpm@10.34.8', 'install', '--frozen-lockfile', '--ignore-scripts', '--reporter=append-only']
  const { status, stdout, stderr } = spawnSync('npx', args, { cwd: folder, encoding: 'utf8' })
  expect(status, stdout + stderr).toBe(0)
})

/** Returns the attributes of the root span of a run with a tool, as a span processor exports it. */
async function rootSpan(processor: SpanProcessor, exporter: InMemorySpanExporter, options: TraceOptions = {}) {
  const provider = new BasicTracerProvider({ spanProcessors: [processor] })
  const layer = trace({ tracer: provider.getTracer('allium'), content: true, identity: true, ...options })
  const { agent } = scene([calling(['look']), 'Found.'], [layer], { name: 'desk', tools: [tool('look')] })
  await agent.session({ id: 's-1', principal: { userId: 'ada' } }).run('Where is it?')
  await provider.forceFlush()
  const root = exporter.getFinishedSpans().find(({ name }) => name === 'invoke_agent desk')
  return root?.attributes ?? {}
}

test.each(['latest', '1.45'] as const)('Langfuse exports the root span with model and usage: %s', async (names) => {
  const { LangfuseSpanProcessor } = requireTool('@langfuse/otel')
  const exporter = new InMemorySpanExporter()
  const processor = new LangfuseSpanProcessor({ exporter, mediaUploadEnabled: false, exportMode: 'immediate' })
  const root = await rootSpan(processor, exporter, { names })
  expect(root).toMatchObject({
    'gen_ai.request.model': 'model',
    'gen_ai.usage.input_tokens': 20,
    'gen_ai.usage.output_tokens': 10,
    'user.id': 'ada',
    'session.id': 's-1',
  })
  if (names === '1.45') return
  expect(root['gen_ai.input.messages']).toContain('Where is it?')
  expect(root['gen_ai.output.messages']).toContain('Found.')
})

test('OpenInference reads model, usage, input and output from the root span', async () => {
  const { convertGenAISpanAttributesToOpenInferenceSpanAttributes: convert } =
    requireTool('@arizeai/openinference-genai')
  const { SimpleSpanProcessor } = requireTool('@opentelemetry/sdk-trace-base')
  const exporter = new InMemorySpanExporter()
  const converted = convert(await rootSpan(new SimpleSpanProcessor(exporter), exporter))
  expect(converted).toMatchObject({
    'openinference.span.kind': 'AGENT',
    'llm.model_name': 'model',
    'llm.token_count.prompt': 20,
    'llm.token_count.completion': 10,
    'llm.token_count.total': 30,
    'llm.output_messages.0.message.contents.0.message_content.text': 'Found.',
  })
  expect(converted['input.value']).toContain('Where is it?')
  expect(converted['output.value']).toContain('Found.')
})

test('the logger of OpenTelemetry takes the event of a failed model call, in the context of its span', async () => {
  const { LoggerProvider, InMemoryLogRecordExporter, SimpleLogRecordProcessor } = requireTool('@opentelemetry/sdk-logs')
  const exporter = new InMemoryLogRecordExporter()
  const provider = new LoggerProvider({ processors: [new SimpleLogRecordProcessor({ exporter })] })
  const spans = new InMemorySpanExporter()
  const { SimpleSpanProcessor } = requireTool('@opentelemetry/sdk-trace-base')
  const tracing = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] })
  const layer = trace({ tracer: tracing.getTracer('allium'), eventLogger: provider.getLogger('allium') })
  await scene([new RangeError('down')], [layer])
    .agent.run('go')
    .settled()
  const chat = spans.getFinishedSpans().find(({ name }) => name === 'chat model')
  const [record] = exporter.getFinishedLogRecords() as (EmittedEvent & { spanContext: object })[]
  expect(record).toMatchObject({
    eventName: 'gen_ai.client.operation.exception',
    attributes: { 'exception.type': 'RangeError' },
    spanContext: { spanId: chat?.spanContext().spanId },
  })
})

test('the results name the versions that are installed here', () => {
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const known = results.rows.map(({ version }) => version)
  for (const name of ['@langfuse/otel', '@arizeai/openinference-genai'])
    expect(known).toContain(`${name} ${dependencies[name]}`)
})
