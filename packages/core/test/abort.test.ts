import { describe, expect, it } from 'vitest'
import { AbortError, type Middleware } from '../src/index.ts'
import { build, failure, gate, oneCall, read, rest, tool, traffic, turn } from './kit.ts'

describe('abort', () => {
  it.each(['turn', 'model', 'tool'] as const)(
    'in a %s layer ends the run with its reason and unwinds every layer',
    async (scope) => {
      const unwound: string[] = []
      const outer = {
        name: 'outer',
        turn: (_: unknown, next: () => Promise<void>) => next().finally(() => unwound.push('turn')),
      }
      const beside = {
        name: 'beside',
        [scope]: (_: unknown, next: () => Promise<never>) => next().finally(() => unwound.push(scope)),
      }
      const aborter = { name: 'aborter', [scope]: (ctx: { abort(reason: string): never }) => ctx.abort('enough') }
      const { error, ends } = await turn(oneCall, [outer, beside, aborter], { tools: [tool('work')] })
      expect(error).toBeInstanceOf(AbortError)
      expect([error?.reason, error?.message, unwound]).toEqual([
        'enough',
        'The run was aborted: enough',
        [scope, 'turn'],
      ])
      expect(ends).toMatchObject([{ status: 'aborted', reason: expect.stringContaining('enough') }])
    },
  )

  it.each(['turn', 'model', 'tool'] as const)('swallowed by a %s layer still ends the run', async (scope) => {
    const answer = { turn: undefined, model: 'fine', tool: 'fine' }[scope]
    const swallower = {
      name: 'swallower',
      async [scope](ctx: { output?: string }, next: () => Promise<unknown>) {
        const value = await next().catch(() => answer)
        if (scope === 'turn') ctx.output = 'all fine'
        return value
      },
    }
    const aborter = { name: 'aborter', [scope]: (ctx: { abort(reason: string): never }) => ctx.abort('enough') }
    const { error, model } = await turn(oneCall, [swallower, aborter], { tools: [tool('work')] })
    expect([error?.name, error?.reason]).toEqual(['AbortError', 'enough'])
    expect(model.calls).toBe(scope === 'tool' ? 1 : 0)
  })

  it('refuses every later next() and runs nothing more', async () => {
    let ran = 0
    const layers: Middleware[] = [
      {
        name: 'retry',
        async model(_, next) {
          for (let i = 0; ; i++)
            try {
              return await next()
            } catch (error) {
              if (i === 3) throw error
            }
        },
      },
      {
        name: 'aborter',
        model(ctx) {
          ran++
          return ctx.abort('enough')
        },
      },
    ]
    const { error } = await turn([], layers)
    expect([ran, error?.name]).toEqual([1, 'AbortError'])
  })

  it('during a stream closes the provider, keeps the partial answer and marks it', async () => {
    const { agent, model } = build([{ chunks: ['Half an '], stall: true }, 'Again.'])
    const session = agent.session()
    const run = session.run('hi')
    agent.on('model:chunk', () => run.abort('user left'))
    const error = await failure(run)
    expect([error.name, error.partial.text]).toEqual(['AbortError', 'Half an '])
    expect(session.history.at(-1)).toEqual({ role: 'assistant', content: 'Half an ', interrupted: true })
    await rest()
    expect([model.closed, model.requests[0]?.signal.aborted]).toEqual([1, true])
    expect((await session.run('go on')).text).toBe('Again.')
  })

  it('before the first chunk leaves the input alone in the history', async () => {
    const { agent } = build([{ stall: true }])
    const session = agent.session()
    const run = session.run('hi')
    await rest()
    run.abort()
    expect((await failure(run)).partial).toMatchObject({ text: '', usage: { calls: 1 } })
    expect(session.history).toEqual([{ role: 'user', content: 'hi' }])
  })

  it('during a tool aborts its signal at once, and every call keeps one result', async () => {
    const started = gate()
    let aborted = false
    const slow = tool(
      'slow',
      (_, { signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            aborted = true
            reject(signal.reason)
          })
          started.open()
        }),
    )
    const { agent } = build(
      [
        {
          toolCalls: [
            { name: 'quick', callId: 'a' },
            { name: 'slow', callId: 'b' },
            { name: 'slow', callId: 'c' },
          ],
        },
      ],
      [],
      {
        tools: [tool('quick'), slow],
        toolConcurrency: 2,
      },
    )
    const session = agent.session()
    const run = session.run('hi')
    await started.promise
    run.abort('stop it')
    expect((await failure(run)).reason).toBe('stop it')
    expect(aborted).toBe(true)
    const { calls, results } = traffic(session.history)
    expect([calls, results]).toEqual([
      ['a', 'b', 'c'],
      ['a', 'b', 'c'],
    ])
  })

  it('does not wait for a tool that ignores its signal', async () => {
    const started = gate()
    const { agent } = build(oneCall, [], {
      tools: [
        tool('work', () => {
          started.open()
          return new Promise(() => {})
        }),
      ],
    })
    const session = agent.session()
    const run = session.run('hi')
    await started.promise
    run.abort()
    expect((await failure(run)).name).toBe('AbortError')
    expect(traffic(session.history).results).toEqual(['c1'])
  })

  it('comes from the signal of the run, before or during it, and leaves no listener there', async () => {
    const early = await turn(['never'], [], { run: { signal: AbortSignal.abort('early') } })
    expect([early.error?.reason, early.model.calls, early.ends.length]).toEqual(['early', 0, 0])
    const controller = new AbortController()
    let listeners = 0
    const { signal } = controller
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = (...args: unknown[]) => {
      listeners++
      ;(add as (...args: unknown[]) => void)(...args)
    }
    signal.removeEventListener = (...args: unknown[]) => {
      listeners--
      ;(remove as (...args: unknown[]) => void)(...args)
    }
    await turn(['ok'], [], { run: { signal } })
    expect(listeners).toBe(0)
  })

  it('may come from the session, from the run before it has begun, and twice', async () => {
    const { agent, model } = build([{ stall: true }])
    const session = agent.session()
    const run = session.run('1')
    await rest()
    session.abort('from session')
    session.abort('again')
    expect((await failure(run)).reason).toBe('from session')
    const other = session.run('2')
    other.abort('at once')
    expect((await failure(other)).reason).toBe('at once')
    expect(model.calls).toBeLessThanOrEqual(2)
    other.abort('after the end')
  })

  it('lets the error of an abort keep an Error reason as its cause', async () => {
    const cause = new Error('client went away')
    const { error } = await turn([], [(ctx) => ctx.abort(cause)])
    expect([error?.cause, error?.reason]).toEqual([cause, cause])
  })

  it('sends exactly one turn:end, and no event after it', async () => {
    const { agent } = build([{ chunks: ['a', 'b'], stall: true }])
    const run = agent.session().run('hi')
    await rest()
    run.abort()
    await failure(run)
    const { events } = await read(run)
    expect(events.filter(({ type }) => type === 'turn:end')).toMatchObject([{ status: 'aborted' }])
    expect(events.at(-1)?.type).toBe('turn:end')
  })

  it('wins over a block that comes after it, and the other way round', async () => {
    const both = (first: 'abort' | 'block'): Middleware => ({
      name: 'both',
      async turn(ctx, next) {
        try {
          ctx[first]('first')
        } catch {}
        try {
          ctx[first === 'abort' ? 'block' : 'abort']('second')
        } catch {}
        await next()
      },
    })
    expect((await turn([], [both('abort')])).error?.reason).toBe('first')
    expect((await turn([], [both('block')])).result).toMatchObject({ status: 'blocked', reason: 'first' })
  })
})
