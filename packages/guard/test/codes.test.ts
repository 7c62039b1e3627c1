import { Agent, type Middleware } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import * as guard from '../src/index.ts'
import { calling, scene } from './scene.ts'

const strict = scriptedModel(Array.from({ length: 2 }, () => '{"score":0,"why":"no"}'))
const file = { type: 'file', data: 'aGk=', mediaType: 'application/zip', filename: 'x.zip' } as const

describe('a turn that a guard blocked says which, for programs', () => {
  it.each<[guard.GuardCode, unknown]>([
    ['guard.budget', guard.budget({ limit: 0 })],
    ['guard.content', guard.content({ keywords: ['hello'] })],
    ['guard.failed', guard.input(() => Promise.reject(new Error('down')))],
    ['guard.files', guard.files()],
    ['guard.injection', guard.injection({ threshold: 0 })],
    ['guard.input', guard.input(() => false)],
    ['guard.judge', guard.judge({ model: strict, rubric: 'None.' })],
    ['guard.max_model_calls', guard.maxModelCalls({ limit: 1, onLimit: 'block' })],
    ['guard.max_tool_calls', guard.maxToolCalls({ limit: 0, onLimit: 'block' })],
    ['guard.output', guard.output(() => false)],
    ['guard.pii', guard.pii({ onFinding: 'block' })],
  ])('%s', async (code, layer) => {
    const { agent } = scene([calling(['look']), 'Done.'], [layer].flat() as Middleware[], { tools: ['look'] })
    const ends: unknown[] = []
    agent.on('turn:end', (end) => ends.push(end))
    const text = { type: 'text', text: 'hello, I am ann@example.com' } as const
    const content = code === 'guard.files' ? [text, file] : [text]
    const steps = code === 'guard.output' ? scene(['Hi.'], [layer] as Middleware[]).agent : agent
    const result = await steps.run({ role: 'user', content })
    expect(result).toMatchObject({ status: 'blocked', code })
    if (steps === agent) expect(ends).toMatchObject([{ status: 'blocked', code }])
  })

  it('guard.rate_limit, with the milliseconds until there is room', async () => {
    const { agent } = scene(['One.'], [guard.rateLimit({ limit: 1, window: 60_000 }) as Middleware])
    const session = agent.session()
    const ends: { retryAfter?: number }[] = []
    agent.on('turn:end', (end) => void ends.push(end))
    await session.run('1')
    const { code, retryAfter = 0 } = await session.run('2')
    expect([code, retryAfter > 50_000 && retryAfter <= 60_000, ends[1]?.retryAfter]).toEqual([
      'guard.rate_limit',
      true,
      retryAfter,
    ])
  })

  it('guard.concurrency', async () => {
    const layer = guard.concurrency({ limit: 1, maxQueueSize: 0 }) as Middleware
    let inner: { code?: string } = {}
    const outer = new Agent({
      model: scriptedModel([
        async () => {
          inner = await new Agent({ model: scriptedModel([]) }).use(layer).run('inside')
          return 'Done.'
        },
      ]),
    })
    await outer.use(layer).run('outside')
    expect(inner.code).toBe('guard.concurrency')
  })

  it("a check's own", async () => {
    const { agent } = scene([], [guard.input(() => ({ block: 'Not now.', code: 'app.closed' })) as Middleware])
    expect(await agent.run('Hi')).toMatchObject({ reason: 'Not now.', code: 'app.closed' })
  })
})
