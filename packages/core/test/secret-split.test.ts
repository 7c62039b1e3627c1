import { describe, expect, it } from 'vitest'
import { memoryJournal } from '../../store/src/journal.ts'
import type { ScriptedStep } from '../../testing/src/index.ts'
import type { ContentChunk, Middleware } from '../src/index.ts'
import { build, failure, reach, read, tool } from './kit.ts'

const secret = 'sk-4711'
const said = `The key is ${secret}. Keep it.`
const redacted = said.replace(secret, '***')

/** Holds back what could begin the secret, and lets the rest go on. */
async function* redacting(chunks: AsyncIterable<ContentChunk>): AsyncIterable<ContentChunk> {
  let kept = ''
  for await (const chunk of chunks) {
    if (chunk.type !== 'text-delta') {
      if (kept !== '') yield { type: 'text-delta', delta: kept }
      kept = ''
      yield chunk
      continue
    }
    kept = (kept + chunk.delta).replaceAll(secret, '***')
    const safe = kept.length - longestBeginning(kept)
    if (safe > 0) yield { ...chunk, delta: kept.slice(0, safe) }
    kept = kept.slice(safe)
  }
  if (kept !== '') yield { type: 'text-delta', delta: kept }
}

/** How much of the end of a text could begin the secret. */
function longestBeginning(text: string): number {
  for (let length = secret.length - 1; length > 0; length--) if (text.endsWith(secret.slice(0, length))) return length
  return 0
}

const layers: Record<string, Middleware> = {
  model: {
    name: 'redact',
    model(ctx, next) {
      ctx.pipe(redacting)
      return next()
    },
  },
  turn: {
    name: 'redact',
    turn(ctx, next) {
      ctx.pipe(redacting)
      return next()
    },
  },
}
const retry: Middleware = { name: 'retry', model: (_, next) => next().catch(() => next()) }
const asking: Middleware = {
  name: 'asking',
  tool: async (ctx, next) => (ctx.approval === undefined ? ctx.suspend() : next()),
}

/** What the model says, in two chunks: the first ends at `at`. */
const split = (at: number): string[] => [said.slice(0, at), said.slice(at)]
const offsets = Array.from({ length: said.length - 1 }, (_, i) => i + 1)
const call = { toolCalls: [{ name: 'work', callId: 'c1' }] }

const ways: Record<string, (at: number) => ScriptedStep[]> = {
  alone: (at) => [{ chunks: split(at) }],
  'before a tool call, and after it': (at) => [{ chunks: [...split(at), ...callChunks] }, { chunks: split(at) }],
  'in an attempt that fails, and in its retry': (at) => [
    { chunks: split(at), error: new Error('cut') },
    { chunks: split(said.length - at) },
  ],
}
const callChunks: ContentChunk[] = [
  { type: 'tool-input-start', callId: 'c1', name: 'work' },
  { type: 'tool-input-end', callId: 'c1' },
]

describe.each(Object.keys(layers))('a secret that passes a redacting pipe of a %s layer', (scope) => {
  const redact = layers[scope] as Middleware

  it.each(Object.keys(ways))('%s, split at every offset, is nowhere', async (way) => {
    for (const at of offsets) {
      const { agent, log } = build((ways[way] as (at: number) => ScriptedStep[])(at), [redact, retry], {
        tools: [tool('work')],
      })
      const heard: unknown[] = []
      for (const name of ['model:chunk', 'model:end', 'turn:end', 'tool:start'] as const)
        agent.on(name, (event) => heard.push(event))
      const session = agent.session()
      const run = session.run('hi')
      const { events } = await read(run)
      const result = await run
      expect(result.text, `split at ${at}`).toBe(redacted)
      expect(reach([events, heard, result, session.history, session.snapshot(), log]), `split at ${at}`).not.toContain(
        secret,
      )
    }
  })

  it('is nowhere in a run that is suspended and resumed, and in its snapshot', async () => {
    for (const at of offsets) {
      const steps = [{ chunks: [...split(at), ...callChunks] }, { chunks: split(at) }]
      const { agent } = build(steps, [redact, asking], { tools: [tool('work')] })
      const session = agent.session()
      const first = session.run('hi')
      const before = [(await read(first)).events, await first, session.snapshot()]
      const second = session.resume({ c1: { approve: true } })
      const after = [(await read(second)).events, await second, session.history]
      expect((await second).text).toBe(redacted)
      expect(reach([before, after]), `split at ${at}`).not.toContain(secret)
    }
  })

  it('is nowhere in a run that is replayed from a journal, which alone keeps what the provider said', async () => {
    for (const at of offsets) {
      const journal = memoryJournal()
      const options = { ids: () => 'fixed', tools: [tool('work')] }
      const steps = [{ chunks: split(at), ...call }, { chunks: split(at) }]
      await build(steps, [redact], { ...options, journal }).agent.run('hi')
      const { agent, model } = build([], [redact], { ...options, journal: journal.reopen() })
      const session = agent.session()
      const run = session.run('hi')
      const { events } = await read(run)
      expect([(await run).text, model.calls]).toEqual([redacted, 0])
      expect(reach([events, await run, session.history]), `split at ${at}`).not.toContain(secret)
    }
  })

  it('is nowhere in what an abort leaves behind, wherever it comes', async () => {
    for (const at of offsets) {
      const { agent } = build([{ chunks: split(at), stall: true }], [redact])
      const session = agent.session()
      const run = session.run('hi')
      let shown = ''
      for await (const event of run) {
        if (event.type === 'text-delta') shown += event.delta
        if (shown.length > at / 2) break
      }
      const error = await failure(run)
      expect(reach([shown, error.partial, session.history]), `split at ${at}`).not.toContain(secret)
    }
  })
})

it.each([
  [
    'model',
    {
      name: 'late',
      model: async (_: unknown, next: () => Promise<{ text: string }>) => ({ ...(await next()), text: '***' }),
    },
  ],
  [
    'turn',
    {
      name: 'late',
      async turn(ctx: { output: string }, next: () => Promise<void>) {
        await next()
        ctx.output = '***'
      },
    },
  ],
])('a %s layer that redacts the result alone fails the run, loudly and by name', async (_, layer) => {
  const { agent } = build([said], [layer as unknown as Middleware])
  const error = await failure(agent.run('hi'))
  expect([error.code, error.message]).toEqual(['stream.mismatch', expect.stringContaining('"late"')])
})
