import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { createOpenAI } from '@ai-sdk/openai'
import { tenantOf } from '@allium/core'
import { physicalCallsOf } from '@allium/core/context'
import type { Ledger, PassageStore, SessionStore } from '@allium/store'
import type { Meter, Tracer } from '@opentelemetry/api'
import { z } from 'zod'
import * as guard from '../../src/guard.ts'
import { Agent, fromAiSdk } from '../../src/index.ts'
import * as memory from '../../src/memory.ts'
import * as model from '../../src/model.ts'
import * as observe from '../../src/observe.ts'
import { metrics, trace } from '../../src/otel.ts'
import * as tools from '../../src/tools.ts'

const mcpServer = fileURLToPath(new URL('../mcp.child.mjs', import.meta.url))

/** What a tool throws, which no model may see. */
export const password = 'hunter2'

export interface Parts {
  url: string
  /** Where the tool "read" reads. */
  folder: string
  ledger: Ledger
  store: SessionStore
  passages: PassageStore
  audit: observe.Audit
  tracer: Tracer
  meter: Meter
  /** Takes what observe.log writes. */
  log(record: object): void
  write(line: string): void
  /** What tools did. */
  did(sessionId: string, name: string): void
  /** Each piece of text, as it comes from the provider. */
  heard(sessionId: string, delta: string): void
  /** What a call sent whose provider never told its usage, in tokens. */
  cut(tenant: string | undefined, inputTokens: number): void
}

/** An agent with every layer of every pack, in the order that the documentation recommends. */
export function everyLayer({
  url,
  folder,
  ledger,
  store,
  passages,
  audit,
  tracer,
  meter,
  log,
  write,
  did,
  heard,
  cut,
}: Parts) {
  const openai = createOpenAI({ baseURL: url, apiKey: 'none' })
  const named = (id: string) => fromAiSdk(openai.chat(id))
  const budget = () =>
    guard.budget({
      limit: 1_000_000,
      unit: 'tokens',
      per: 'tenant',
      ledger,
      estimate: () => ({ inputTokens: 100, outputTokens: 50 }),
    })
  const onion = observe.onion({ maxTurns: 20 })

  const researcher = new Agent({ name: 'researcher', model: named('researcher'), instructions: 'Find facts.' })
  const agent = new Agent({
    model: named('main'),
    instructions: 'Help with numbers.',
    tools: toolsThat(did),
    maxSteps: 6,
    logger: { debug() {}, warn() {}, error() {} },
  })
    .use(onion)
    .use(observe.duration())
    .use(observe.tools())
    .use(trace({ tracer }))
    .use(guard.pii({ types: ['email'] }))
    .use(guard.content({ keywords: ['gunpowder'] }))
    .use(guard.input({ check: (text) => !text.includes('forbidden input') || { block: 'The input is forbidden.' } }))
    .use(guard.judge({ model: named('judge'), rubric: 'Speaks of numbers.', use: [budget()] }))
    .use(memory.persist({ store }))
    .use(audit)
    .use(observe.log({ logger: { debug: log, info: log, warn: log, error: log } }))
    .use(observe.console({ write }))
    .use(guard.rateLimit({ limit: 10_000, per: 'tenant', window: 'minute' }))
    .use(guard.timeout({ turn: 60_000 }))
    .use(memory.compact({ trigger: { messages: 30 }, model: named('summary') }))
    .use(memory.truncate({ maxMessages: 60 }))
    .use(memory.recall({ store: passages }))
    .use(memory.plan())
    .use(memory.working({ schema: z.object({ name: z.string().optional() }), store }))
    .use(tools.truncate({ maxLength: 400 }))
    .use(model.selectTools({ tools: ({ request }) => request.tools.map(({ name }) => name) }))
    .use(
      model.route({
        rules: [{ when: ({ input }) => JSON.stringify(input).includes('route'), model: named('routed') }],
      }),
    )
    .use(model.settings({ defaults: { temperature: 0.1 } }))
    .use(model.promptCache())
    .use(model.cache({ store: model.memoryKeyValue({ max: 50 }), when: ({ messages }) => wants(messages, 'again') }))
    .use(guard.output({ check: (text) => !text.includes('forbidden output') || { block: 'The answer is forbidden.' } }))
    .use(model.structured({ schema: z.string().refine((text) => !text.includes('unfit')), format: 'text' }))
    .use(model.fallback({ models: [named('backup')] }))
    .use(model.retry({ attempts: 3, delay: 1 }))
    .use(model.breaker({ threshold: 1_000 }))
    .use(guard.concurrency({ limit: 6, perTenant: 3 }))
    .use(metrics({ meter }))
    .use(budget())
    .use({
      name: 'cuts',
      innermost: true,
      inherit: true,
      async model(ctx, next) {
        try {
          return await next()
        } finally {
          for (const { usage } of physicalCallsOf(ctx))
            if (usage.estimated) cut(tenantOf(ctx.principal), usage.inputTokens)
        }
      },
    })
    .use({
      name: 'ear',
      innermost: true,
      model(ctx, next) {
        ctx.onChunk((chunk) => void (chunk.type === 'text-delta' && heard(ctx.sessionId, chunk.delta)))
        return next()
      },
    })
    .use(observe.usage())
    .use(guard.maxModelCalls({ limit: 9 }))
    .use(guard.maxToolCalls({ limit: 9 }))
    .use(guard.files({ root: folder, pathArgs: { read: ['path'] } }))
    .use(guard.injection())
    .use(guard.flow())
    .use(guard.policy({ deny: ['drop_table'] }))
    .use(
      guard.approve({ tools: ['refund'], handler: ({ args }) => Number(args.amount) <= 100 || { deny: 'Too much.' } }),
    )
    .use(guard.approve({ tools: ['wire'], as: 'guard:ask' }))
    .use(tools.cache({ tools: ['count'] }))
    .use(tools.emulate({ model: named('emulator'), tools: ['imagined'] }))
    .use(tools.retry({ tools: ['flaky'], delay: 1 }))
    .use(tools.http({ hosts: ['api.example.com'], allowPrivate: [new URL(url).host] }))
    .use(tools.mcp({ name: 'files', command: process.execPath, args: [mcpServer] }))
    .use(tools.agent({ agent: researcher, description: 'Finds facts.' }))
    .use(
      tools.function({
        name: 'double',
        description: 'Doubles',
        schema: z.object({ a: z.number() }),
        flow: {},
        execute: ({ a }) => 2 * a,
      }),
    )
  return { agent, onion }
}

function wants(messages: readonly { content: unknown }[], word: string): boolean {
  return JSON.stringify(messages.at(-1)?.content).includes(word)
}

function toolsThat(did: Parts['did']) {
  const failed = new Set<number>()
  const tool = (name: string, schema: z.ZodObject, execute: (args: never) => unknown) => ({
    name,
    description: name,
    schema,
    flow: {},
    execute(args: unknown, { sessionId }: { sessionId: string }) {
      did(sessionId, name)
      return execute(args as never)
    },
  })
  return [
    tool('add', z.object({ a: z.number(), b: z.number() }), ({ a, b }: { a: number; b: number }) => a + b),
    tool('drop_table', z.object({}), () => 'dropped'),
    tool('refund', z.object({ amount: z.number() }), ({ amount }: { amount: number }) => `refunded ${amount}`),
    tool('wire', z.object({ amount: z.number() }), ({ amount }: { amount: number }) => `wired ${amount}`),
    tool('mail', z.object({ to: z.string() }), () => 'sent'),
    tool('broken', z.object({}), () => {
      throw new Error(`the password is ${password}`)
    }),
    { ...tool('slow', z.object({}), () => new Promise(() => {})), timeout: 30 },
    tool('count', z.object({ of: z.string() }), () => 7),
    tool('imagined', z.object({ what: z.string() }), () => 'real'),
    tool('read', z.object({ path: z.string() }), ({ path }: { path: string }) => readFile(path, 'utf8')),
    tool('flaky', z.object({ n: z.number() }), ({ n }: { n: number }) => {
      if (failed.delete(n)) return 'at last'
      failed.add(n)
      throw Object.assign(new Error('socket'), { code: 'ECONNRESET' })
    }),
    tool('long', z.object({}), () => 'word '.repeat(1_000)),
  ]
}
