import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type AlliumError, delegate, type Middleware } from '../src/index.ts'
import { build, oneCall, tool } from './kit.ts'

type Failed = AlliumError & { partial: unknown }
const failureOf = async (run: PromiseLike<unknown>) => (await run.then(undefined, (error) => error)) as Failed
const nothing = { text: '', usage: { inputTokens: 0, outputTokens: 0, calls: 0 }, messages: [], sessionId: 's' }

describe('a run that is refused before its turn begins', () => {
  it.each([
    ['session.busy', (run: (options?: object) => Promise<unknown>) => run()],
    ['run.options', (run: (options?: object) => Promise<unknown>) => run({ output: 3 })],
    ['layer.invalid', (run: (options?: object) => Promise<unknown>) => run({ use: [3] })],
  ])('rejects with error.partial, and tells no turn:end: %s', async (code, act) => {
    const { agent } = build(['one', 'two'])
    const ends: unknown[] = []
    const session = agent.session({ id: 's' })
    const first = code === 'session.busy' ? session.run('first') : undefined
    agent.on('turn:end', (event) => ends.push(event))
    const error = await failureOf(act((options) => Promise.resolve(session.run('go', options))))
    expect([error.code, error.partial]).toEqual([code, nothing])
    await first
    expect(ends.length).toBe(first === undefined ? 0 : 1)
  })

  it('does so where an agent layer throws', async () => {
    const boom: Middleware = {
      name: 'boom',
      agent() {
        throw new Error('no database')
      },
    }
    const { agent } = build(['one'], [boom])
    const error = await failureOf(agent.session({ id: 's' }).run('go'))
    expect([error.message, error.partial]).toEqual(['no database', nothing])
  })
})

describe('restore()', () => {
  const typed: Middleware = { name: 'typed', state: { count: { default: 0, schema: z.number() } } }

  it('refuses a value that does not fit the schema of its key, and changes nothing', () => {
    const session = build([], [typed]).agent.session()
    const history = [{ role: 'user' as const, content: 'hi' }]
    expect(() => session.restore({ history, state: { count: 'many' } })).toThrow(
      expect.objectContaining({ code: 'state.invalid', message: expect.stringContaining('"count"') }),
    )
    expect([session.history.length, session.state]).toEqual([0, { count: 0 }])
    session.restore({ history, state: { count: 3 } })
    expect(session.state).toEqual({ count: 3 })
  })

  it('leaves no call without a result that somebody has answered with words', async () => {
    const { agent, model } = build(['fine'], [], { tools: [tool('work')] })
    const session = agent.session()
    const asked = {
      role: 'assistant' as const,
      content: [{ type: 'tool-call' as const, callId: 'c1', name: 'work', args: {} }],
    }
    session.restore({ history: [asked, { role: 'user', content: 'Well?' }], state: {} })
    await session.run('Go on')
    expect(model.requests[0]?.messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'user', 'user'])
  })
})

describe('delegate()', () => {
  it('ends the sub-agent by its own signal, and by that of the call', async () => {
    const own = new AbortController()
    const { agent: child } = build([{ stall: true }], [], { name: 'child' })
    const errors: { name?: string }[] = []
    const asks = tool('work', async (_, ctx) => {
      setTimeout(() => own.abort(), 0)
      await delegate(ctx, child, 'go', { signal: own.signal }).catch((error) => errors.push(error))
    })
    const { agent } = build(oneCall, [], { tools: [asks] })
    expect((await agent.run('go')).text).toBe('done')
    expect(errors.map(({ name }) => name)).toEqual(['AbortError'])
  })
})
