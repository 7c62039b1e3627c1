import { describe, expect, it } from 'vitest'
import { scriptedModel } from '../../testing/src/index.ts'
import type { Middleware } from '../src/index.ts'
import { oneCall, tool, turn } from './kit.ts'

/** Tries again after a failure, `attempts` times in all. */
const retry = (scope: 'model' | 'tool', attempts = 2, name = 'retry'): Middleware => ({
  name,
  async [scope](_: unknown, next: () => Promise<never>) {
    for (let attempt = 1; ; attempt++)
      try {
        return await next()
      } catch (error) {
        if (attempt === attempts) throw error
      }
  },
})

describe('re-entry', () => {
  it('gives each try of a tool the arguments as its layer has them, whatever the last try made of them', async () => {
    const ran: unknown[] = []
    const work = tool('work', (args: { list: number[]; mark?: string }) => {
      ran.push(structuredClone(args))
      args.list.push(0)
      return 'worked'
    })
    const twice: Middleware = {
      name: 'twice',
      reenters: true,
      async tool(_, next) {
        await next()
        return next()
      },
    }
    const marks: Middleware = {
      name: 'marks',
      tool(ctx, next) {
        ctx.modifyArgs({ mark: `${ctx.args.mark ?? ''}+` })
        return next()
      },
    }
    const step = { toolCalls: [{ name: 'work', callId: 'c1', args: { list: [1] } }] }
    await turn([step, 'done'], [twice, marks], { tools: [work] })
    expect(ran.splice(0)).toEqual(Array(2).fill({ list: [1], mark: '+' }))
    await turn([step, 'done'], [twice], { tools: [work] })
    expect(ran).toEqual(Array(2).fill({ list: [1] }))
  })

  it('runs every inner layer and the model afresh after a failure, and counts attempts', async () => {
    const attempts: number[] = []
    const inner: Middleware = {
      name: 'inner',
      model(ctx, next) {
        attempts.push(ctx.attempt)
        return next()
      },
    }
    const { result, model } = await turn([new Error('down'), 'up'], [retry('model'), inner])
    expect([result?.text, model.calls, attempts, result?.usage.calls]).toEqual(['up', 2, [1, 2], 2])
  })

  it('gives each attempt the call as it was at the first next()', async () => {
    const fallback = scriptedModel([new Error('down too')])
    const inner: Middleware = {
      name: 'inner',
      model(ctx, next) {
        ctx.addSystemMessage('inner')
        ctx.messages[1] = { ...ctx.messages[1]!, content: `${ctx.messages[1]!.content}+` }
        ctx.settings.temperature = (ctx.settings.temperature ?? 0) + 1
        ctx.removeTools('work')
        ctx.toolChoice = 'none'
        if (ctx.attempt === 2) ctx.setModel(fallback)
        return next()
      },
    }
    const outer: Middleware = {
      name: 'outer',
      model(ctx, next) {
        ctx.addSystemMessage('outer')
        return next()
      },
    }
    const { model } = await turn([new Error('down'), 'up'], [outer, retry('model', 3), inner], {
      tools: [tool('work'), tool('other')],
    })
    const [first, second] = model.requests
    expect(second).toEqual(first)
    expect(first?.messages.map(({ content }) => content)).toEqual(['outer', 'inner+', 'hi'])
    expect(fallback.requests[0]?.settings).toEqual({ temperature: 1 })
  })

  it('keeps what the retrying layer itself changed before its first next()', async () => {
    const layer: Middleware = {
      name: 'retry',
      async model(ctx, next) {
        ctx.settings.seed = 7
        ctx.addMessage({ role: 'user', content: 'mine' })
        return next().catch(() => next())
      },
    }
    const { model } = await turn([new Error('down'), 'up'], [layer])
    expect(model.requests.map(({ settings }) => settings.seed)).toEqual([7, 7])
    expect(model.requests.map(({ messages }) => messages.at(-1)?.content)).toEqual(['mine', 'mine'])
  })

  it('lets a retrying layer change the call between attempts', async () => {
    const fallback = scriptedModel(['from fallback'])
    const layer: Middleware = {
      name: 'fallback',
      model: (ctx, next) =>
        next().catch(() => {
          ctx.setModel(fallback)
          return next()
        }),
    }
    const { result } = await turn([new Error('down')], [layer])
    expect(result?.text).toBe('from fallback')
  })

  it('runs again after a success only for a layer that declares it', async () => {
    const again = (reenters: boolean): Middleware => ({
      name: 'again',
      reenters,
      async model(_, next) {
        await next()
        return next()
      },
    })
    expect((await turn(['one', 'two'], [again(true)])).result?.text).toBe('two')
    const refused = await turn(['one', 'two'], [again(false)])
    expect([refused.error?.code, refused.model.calls]).toEqual(['layer.next_twice', 1])
    expect(refused.error?.message).toContain('"reenters: true"')
  })

  it('gives a re-entering layer the fields of its first next() after a success, too', async () => {
    const inner: Middleware = {
      name: 'inner',
      model(ctx, next) {
        ctx.addMessage({ role: 'user', content: `try ${ctx.attempt}` })
        return next()
      },
    }
    const repair: Middleware = {
      name: 'repair',
      reenters: true,
      async model(ctx, next) {
        const { text } = await next()
        ctx.addMessage({ role: 'user', content: `"${text}" is wrong` })
        return next()
      },
    }
    const { model } = await turn(['bad', 'good'], [repair, inner])
    expect(model.requests[1]?.messages.map(({ content }) => content)).toEqual(['hi', '"bad" is wrong', 'try 2'])
  })

  it('passes the attempt count on through two retries, one in the other', async () => {
    const attempts: number[] = []
    const inner: Middleware = {
      name: 'inner',
      model(ctx, next) {
        attempts.push(ctx.attempt)
        return next()
      },
    }
    const down = () => new Error('down')
    const layers = [retry('model', 2, 'outer'), retry('model', 2, 'inner-retry'), inner]
    const { result, model } = await turn([down(), down(), down(), 'up'], layers)
    expect([result?.text, model.calls, attempts]).toEqual(['up', 4, [1, 2, 3, 4]])
  })

  it('restores the arguments of a tool call for each attempt', async () => {
    const ran: unknown[] = []
    const flaky = tool('work', (args) => {
      ran.push(args)
      return 'ok'
    })
    const failing: Middleware = {
      name: 'failing',
      async tool(ctx, next) {
        const result = await next()
        if (ctx.attempt === 1) throw new Error('once')
        return result
      },
    }
    const inner: Middleware = {
      name: 'inner',
      tool(ctx, next) {
        ctx.modifyArgs((args: { n?: number }) => ({ n: (args.n ?? 0) + 1 }))
        return next()
      },
    }
    const { result } = await turn(oneCall, [retry('tool'), failing, inner], { tools: [flaky] })
    expect(ran).toEqual([{ n: 1 }, { n: 1 }])
    expect(result?.toolCalls[0]?.result.content).toBe('ok')
  })

  it('restores arguments that an inner layer changed in place', async () => {
    const ran: unknown[] = []
    const inner: Middleware = {
      name: 'inner',
      tool(ctx, next) {
        ctx.args.list.push(1)
        ctx.modifyArgs({})
        return next()
      },
    }
    const failing: Middleware = {
      name: 'failing',
      async tool(ctx, next) {
        await next()
        if (ctx.attempt === 1) throw new Error('once')
        return 'ok'
      },
    }
    const steps = [{ toolCalls: [{ name: 'work', args: { list: [] } }] }, 'done']
    await turn(steps, [retry('tool'), failing, inner], { tools: [tool('work', (args) => ran.push(args.list))] })
    expect(ran).toEqual([[1], [1]])
  })

  it('clears the skip of an inner layer when it is entered again from outside', async () => {
    const cache: Middleware = {
      name: 'cache',
      async model(ctx, next) {
        if (ctx.attempt === 1) ctx.skipCall('cached')
        return next()
      },
    }
    const refuser: Middleware = {
      name: 'refuser',
      async model(ctx, next) {
        const response = await next()
        if (ctx.attempt === 1) throw new Error('stale')
        return response
      },
    }
    const { result, model } = await turn(['fresh'], [retry('model'), refuser, cache])
    expect([result?.text, model.calls]).toEqual(['fresh', 1])
  })

  it('keeps a deny over attempts, and state', async () => {
    const layers: Middleware[] = [
      {
        name: 'again',
        reenters: true,
        async tool(_, next) {
          await next()
          return next()
        },
      },
      {
        name: 'guard',
        state: { asked: { default: 0, reducer: (n, d) => n + d } },
        tool(ctx, next) {
          ctx.state.asked = 1
          if (ctx.attempt === 1) ctx.deny('no')
          return next()
        },
      },
    ]
    let ran = 0
    const { result } = await turn(oneCall, layers, { tools: [tool('work', () => ran++)] })
    expect(ran).toBe(0)
    expect(result?.state.asked).toBe(1)
    expect(result?.toolCalls[0]?.result).toMatchObject({ status: 'denied', content: 'no' })
  })

  it('sends a model:reset before the chunks of a new attempt, once something was shown', async () => {
    const { events, shown, all, result } = await turn(
      [{ chunks: ['Hel'], error: new Error('cut') }, 'Hello'],
      [retry('model')],
    )
    expect([shown, all, result?.text]).toEqual(['Hello', 'HelHello', 'Hello'])
    expect(events.filter(({ type }) => type === 'model:reset')).toHaveLength(1)
    const silent = await turn([new Error('before any chunk'), 'Hello'], [retry('model')])
    expect(silent.events.map(({ type }) => type)).not.toContain('model:reset')
  })

  it('counts the usage of attempts that succeeded and were thrown away', async () => {
    const refuser: Middleware = {
      name: 'refuser',
      async model(ctx, next) {
        const response = await next()
        if (ctx.attempt === 1) throw new Error('no')
        return response
      },
    }
    const { result } = await turn(['a', 'b'], [retry('model'), refuser])
    expect(result?.usage).toEqual({ inputTokens: 20, outputTokens: 10, calls: 2 })
  })
})
