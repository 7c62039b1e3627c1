import { describe, expect, it } from 'vitest'
import { isBlockError, type Middleware } from '../src/index.ts'
import { build, gate, oneCall, reach, rest, results, tool, turn } from './kit.ts'

const blocker = (scope: 'turn' | 'model' | 'tool', reply?: string) => ({
  name: 'guard',
  [scope]: (ctx: { block(reason: string, options?: object): never }) =>
    ctx.block('not allowed', reply === undefined ? {} : { reply }),
})

const holder: Middleware = {
  name: 'holder',
  turn(ctx, next) {
    ctx.hold()
    return next()
  },
}

describe('block', () => {
  it('is a status of the result and unwinds every layer', async () => {
    const caught: unknown[] = []
    const outer: Middleware = {
      name: 'outer',
      turn: (_, next) =>
        next().catch((error) => {
          caught.push(isBlockError(error))
          throw error
        }),
    }
    const { result, model, ends } = await turn(['never'], [outer, blocker('turn')])
    expect(result).toMatchObject({ status: 'blocked', reason: 'not allowed', text: '', output: null, messages: [] })
    expect([caught, model.calls, ends.length]).toEqual([[true], 0, 1])
  })

  it('before the core without a reply leaves no message', async () => {
    expect((await turn(['never'], [blocker('turn')])).session.history).toEqual([])
  })

  it('before the core with a reply leaves the input and the reply, and streams it', async () => {
    const { result, session, shown } = await turn(['never'], [blocker('turn', 'I may not.')])
    expect([result?.text, result?.output, shown]).toEqual(['I may not.', 'I may not.', 'I may not.'])
    expect(session.history.map(({ content }) => content)).toEqual(['hi', 'I may not.'])
  })

  it('after the core takes the offending text out of history and stream', async () => {
    const guard: Middleware = {
      name: 'guard',
      async turn(ctx, next) {
        await next()
        ctx.block('leak')
      },
    }
    const { session, shown, result } = await turn(['my secret'], [guard])
    expect(JSON.stringify([session.history, result, shown])).not.toContain('secret')
    expect(session.history.map(({ role }) => role)).toEqual(['user'])
  })

  it('takes back what a hold inside let out at once: the texts of all its steps', async () => {
    const guard: Middleware = {
      name: 'guard',
      async turn(ctx, next) {
        await next()
        ctx.block('leak')
      },
    }
    const between: Middleware = { name: 'between', turn: (_, next) => next() }
    const steps = [{ text: 'my secret', toolCalls: [{ name: 'work', callId: 'c1' }] }, 'done']
    const run = await turn(steps, [guard, between, holder], { tools: [tool('work')] })
    expect([run.shown, reach(run.session.history).includes('secret')]).toEqual(['', false])
    expect(run.session.history.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
  })

  it('after the core with a reply puts it in the place of the text', async () => {
    const guard: Middleware = {
      name: 'guard',
      async turn(ctx, next) {
        await next()
        ctx.block('leak', { reply: 'Sorry.' })
      },
    }
    const { session, shown, result } = await turn(['my secret'], [guard])
    expect([result?.text, shown]).toEqual(['Sorry.', 'Sorry.'])
    expect(session.history.map(({ content }) => content)).toEqual(['hi', 'Sorry.'])
  })

  it('in a model layer in mid-stream takes back what was shown', async () => {
    const guard: Middleware = {
      name: 'guard',
      model(ctx, next) {
        ctx.onChunk((chunk) => {
          if (chunk.type === 'text-delta' && chunk.delta.includes('secret')) ctx.block('leak', { reply: 'Sorry.' })
        })
        return next()
      },
    }
    const { session, shown, result, model } = await turn([{ chunks: ['fine so far, ', 'secret', ' more'] }], [guard])
    expect([result?.status, shown, session.history.at(-1)?.content]).toEqual(['blocked', 'Sorry.', 'Sorry.'])
    await rest()
    expect(model.closed).toBe(1)
  })

  it('is not repeated by a retry and sticks when it is swallowed', async () => {
    let asked = 0
    const layers: Middleware[] = [
      {
        name: 'swallower',
        model: (_, next) =>
          next()
            .catch(() => next())
            .catch(() => 'all fine'),
      },
      {
        name: 'guard',
        model(ctx) {
          asked++
          return ctx.block('no')
        },
      },
    ]
    const { result } = await turn([], layers)
    expect([result?.status, asked]).toEqual(['blocked', 1])
  })

  it('in one of several parallel tools lets finished ones keep their result and cancels the rest', async () => {
    const quickDone = gate()
    let cancelled = false
    const slow = tool(
      'slow',
      (_, { signal }) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => {
            cancelled = true
            resolve('late')
          }),
        ),
    )
    const guard: Middleware = {
      name: 'guard',
      async tool(ctx, next) {
        if (ctx.tool.name !== 'bad') return next().finally(() => ctx.tool.name === 'quick' && quickDone.open())
        await quickDone.promise
        await rest()
        return ctx.block('bad tool')
      },
    }
    const names = ['quick', 'slow', 'bad', 'queued']
    const { result, session, model } = await turn(
      [{ toolCalls: names.map((name) => ({ name, callId: name })) }],
      [guard],
      {
        tools: [tool('quick'), slow, tool('bad'), tool('queued')],
        toolConcurrency: 2,
      },
    )
    expect([result?.status, cancelled, model.calls]).toEqual(['blocked', true, 1])
    expect(results(session.history)).toEqual({
      quick: 'worked',
      slow: 'Cancelled.',
      bad: 'Cancelled.',
      queued: 'Cancelled.',
    })
  })

  it('from a tool itself blocks the run', async () => {
    const { result } = await turn(oneCall, [], { tools: [tool('work', (_, ctx) => ctx.block('from the tool'))] })
    expect(result).toMatchObject({ status: 'blocked', reason: 'from the tool' })
  })

  it('lets the next turn of the session run', async () => {
    const guard: Middleware = { name: 'guard', turn: (ctx, next) => (ctx.turnIndex === 0 ? ctx.block('no') : next()) }
    const { agent } = build(['fine'], [guard])
    const session = agent.session()
    expect((await session.run('1')).status).toBe('blocked')
    expect((await session.run('2')).text).toBe('fine')
  })
})
