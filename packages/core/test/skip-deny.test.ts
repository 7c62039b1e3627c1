import { describe, expect, it } from 'vitest'
import type { Middleware } from '../src/index.ts'
import { oneCall, results, tool, turn } from './kit.ts'

const withTool = (layers: Middleware[], ran: unknown[] = []) =>
  turn(oneCall, layers, { tools: [tool('work', (args) => ran.push(args))] })

describe('skipCall', () => {
  it.each<[string, Middleware['model']]>([
    ['returned', (ctx) => ctx.skipCall('cached')],
    [
      'then next()',
      (ctx, next) => {
        ctx.skipCall('cached')
        return next()
      },
    ],
    [
      'then the same returned',
      (ctx) => {
        const cached = { text: 'cached' }
        ctx.skipCall(cached)
        return cached
      },
    ],
    [
      'then nothing returned',
      (ctx) => {
        ctx.skipCall('cached')
        return undefined as never
      },
    ],
  ])('answers a model call, %s', async (_, model) => {
    let inner = 0
    const layers: Middleware[] = [
      { name: 'cache', model },
      {
        name: 'inner',
        model(_, next) {
          inner++
          return next()
        },
      },
    ]
    const { result, model: scripted, shown, session } = await turn([], layers)
    expect([result?.text, shown, session.history.at(-1)?.content]).toEqual(['cached', 'cached', 'cached'])
    expect([scripted.calls, inner, result?.usage.calls]).toEqual([0, 0, 0])
  })

  it('streams the answer to the layers outside, not to those inside', async () => {
    const seen: string[] = []
    const listen = (name: string): Middleware => ({
      name,
      model(ctx, next) {
        ctx.onChunk(({ type }) => void seen.push(`${name} ${type}`))
        return next()
      },
    })
    const hit = { text: 'hit', toolCalls: [{ callId: 'x', name: 'work', args: {} }] }
    const cache: Middleware = {
      name: 'cache',
      model: (ctx, next) => (ctx.callIndex === 0 ? ctx.skipCall(hit) : next()),
    }
    const { events } = await turn(['done'], [listen('outer'), cache, listen('inner')], { tools: [tool('work')] })
    expect(seen).toEqual([
      ...['outer text-delta', 'outer tool-input-start', 'outer tool-input-delta', 'outer tool-input-end'],
      ...['inner text-delta', 'outer text-delta'],
    ])
    expect(events.filter(({ type }) => type === 'finish')).toHaveLength(2)
  })

  it('loses against a later return value', async () => {
    const layer: Middleware = {
      name: 'cache',
      model: (ctx) => {
        ctx.skipCall('skipped')
        return 'returned'
      },
    }
    expect((await turn([], [layer])).result?.text).toBe('returned')
  })

  it('gives its result to next() at once', async () => {
    let given: unknown
    const layer: Middleware = {
      name: 'cache',
      async model(ctx, next) {
        ctx.skipCall('skipped')
        given = await next()
        return given as never
      },
    }
    await turn([], [layer])
    expect(given).toMatchObject({ text: 'skipped', toolCalls: [], finishReason: 'stop' })
  })

  it('answers a tool call with the status "skipped"', async () => {
    const ran: unknown[] = []
    const { result, model } = await withTool([{ name: 'cache', tool: (ctx) => ctx.skipCall('from cache') }], ran)
    expect([ran, result?.toolCalls[0]?.result]).toEqual([
      [],
      { callId: 'c1', content: 'from cache', status: 'skipped' },
    ])
    expect(results(model.requests[1]!.messages)).toEqual({ c1: 'from cache' })
  })

  it('takes a whole response through a store that keeps JSON', async () => {
    const kept: string[] = []
    const keeper: Middleware = {
      name: 'keeper',
      async model(_, next) {
        const response = await next()
        kept.push(JSON.stringify(response))
        return response
      },
    }
    await turn([{ reasoning: 'hm', text: 'answer', usage: { inputTokens: 3, outputTokens: 4 } }], [keeper])
    const { session, result } = await turn([], [{ name: 'cache', model: (ctx) => ctx.skipCall(JSON.parse(kept[0]!)) }])
    expect(result?.text).toBe('answer')
    expect(session.history[1]?.content).toEqual([
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'answer' },
    ])
  })

  it.each([[7], [{ text: 7 }], [{ toolCalls: [{}] }], [null]])(
    'refuses %j as a response, and names the layer',
    async (given) => {
      const { error } = await turn([], [{ name: 'wrong', model: (ctx) => ctx.skipCall(given as never) }])
      expect(error).toMatchObject({ code: 'layer.result', details: { layer: 'wrong' } })
    },
  )

  it.each([[7], [{}], [null]])('refuses %j as a tool result, and names the layer', async (given) => {
    const { error } = await withTool([{ name: 'wrong', tool: () => given as never }])
    expect(error).toMatchObject({ code: 'layer.result', details: { layer: 'wrong' } })
  })
})

describe('deny', () => {
  it.each<[string, Middleware['tool']]>([
    ['returned', (ctx) => ctx.deny('no')],
    [
      'then next()',
      (ctx, next) => {
        ctx.deny('no')
        return next()
      },
    ],
    [
      'then another result',
      (ctx) => {
        ctx.deny('no')
        return 'yes'
      },
    ],
    [
      'then nothing',
      (ctx) => {
        ctx.deny('no')
        return undefined as never
      },
    ],
    [
      'after a skip',
      (ctx) => {
        ctx.skipCall('yes')
        return ctx.deny('no')
      },
    ],
    [
      'before a skip',
      (ctx) => {
        ctx.deny('no')
        return ctx.skipCall('yes')
      },
    ],
    [
      'twice: the first reason stays',
      (ctx) => {
        ctx.deny('no')
        return ctx.deny('later')
      },
    ],
  ])('refuses the call, %s', async (_, hook) => {
    const ran: unknown[] = []
    const { result, model, events } = await withTool([{ name: 'guard', tool: hook }], ran)
    expect([ran, result?.toolCalls[0]?.result]).toEqual([
      [],
      { callId: 'c1', content: 'no', isError: true, status: 'denied' },
    ])
    expect(results(model.requests[1]!.messages)).toEqual({ c1: 'no' })
    expect(events.find(({ type }) => type === 'tool:end')).toMatchObject({
      status: 'denied',
      isError: true,
      content: 'no',
    })
  })

  it('cannot be undone by a layer outside that returns another result', async () => {
    const layers: Middleware[] = [
      {
        name: 'outer',
        async tool(_, next) {
          await next()
          return 'all fine'
        },
      },
      { name: 'guard', tool: (ctx) => ctx.deny('no') },
    ]
    expect((await withTool(layers)).result?.toolCalls[0]?.result).toMatchObject({ content: 'no', status: 'denied' })
  })

  it('cannot be undone by a layer outside that calls next() again', async () => {
    const ran: unknown[] = []
    const layers: Middleware[] = [
      {
        name: 'outer',
        reenters: true,
        async tool(_, next) {
          await next()
          return next()
        },
      },
      { name: 'guard', tool: (ctx, next) => (ctx.attempt === 1 ? ctx.deny('no') : next()) },
    ]
    expect((await withTool(layers, ran)).result?.toolCalls[0]?.result.status).toBe('denied')
    expect(ran).toEqual([])
  })

  it('by a layer outside keeps every layer inside from running', async () => {
    let inner = 0
    const layers: Middleware[] = [
      {
        name: 'guard',
        tool(ctx, next) {
          ctx.deny('no')
          return next()
        },
      },
      {
        name: 'inner',
        tool(ctx, next) {
          inner++
          ctx.approve()
          return next()
        },
      },
    ]
    await withTool(layers)
    expect(inner).toBe(0)
  })

  it('by an inner layer after the tool ran replaces the result', async () => {
    const ran: unknown[] = []
    const layers: Middleware[] = [
      {
        name: 'late guard',
        async tool(ctx, next) {
          await next()
          return ctx.deny('secret result')
        },
      },
    ]
    const { result } = await withTool(layers, ran)
    expect([ran.length, result?.toolCalls[0]?.result.content]).toEqual([1, 'secret result'])
  })

  it('does not end the turn: the model goes on', async () => {
    const { result } = await withTool([{ name: 'guard', tool: (ctx) => ctx.deny('no') }])
    expect([result?.status, result?.text]).toEqual(['completed', 'done'])
  })
})

describe('approval', () => {
  it('is needed by a tool that requires it, and given by a layer', async () => {
    const ran: unknown[] = []
    const tools = [tool('work', (args) => ran.push(args), { requireApproval: true })]
    const refused = await turn(oneCall, [], { tools })
    expect([ran, refused.result?.toolCalls[0]?.result.status === 'ok']).toEqual([[], false])
    const approver: Middleware = {
      name: 'approver',
      tool(ctx, next) {
        ctx.approve()
        return next()
      },
    }
    await turn(oneCall, [approver], { tools })
    expect(ran).toHaveLength(1)
  })

  it('may be asked of a function of the arguments', async () => {
    const ran: unknown[] = []
    const requireApproval = async ({ amount }: { amount: number }) => amount > 10
    const tools = [tool('work', ({ amount }) => ran.push(amount), { requireApproval })]
    const call = (amount: number) => ({ name: 'work', args: { amount } })
    await turn([{ toolCalls: [call(5), call(50)] }, 'done'], [], { tools })
    expect(ran).toEqual([5])
  })
})

describe('a reason that is no text', () => {
  const reasons: [string, unknown, string | undefined][] = [
    ['nothing', undefined, undefined],
    ['null', null, undefined],
    ['an error', new Error('not on Sundays'), 'not on Sundays'],
    ['an object', {}, 'an object'],
  ]
  it.each(reasons)('of deny, %s, denies', async (_, reason, told = 'Denied.') => {
    const { result } = await withTool([{ name: 'deny', tool: (ctx) => ctx.deny(reason as string) }])
    expect(Object.values(results(result?.messages ?? []))).toEqual([told])
  })

  it.each(reasons)('of block, %s, blocks', async (_, reason, told = 'blocked') => {
    const { result } = await withTool([{ name: 'block', tool: (ctx) => ctx.block(reason as string) }])
    expect(result).toMatchObject({ status: 'blocked', reason: told })
  })

  it.each(reasons)('of stop, %s, stops', async (_, reason, told = 'stopped') => {
    const { result } = await withTool([
      {
        name: 'stop',
        tool(ctx, next) {
          ctx.stop(reason as string)
          return next()
        },
      },
    ])
    expect(result).toMatchObject({ status: 'stopped', reason: told })
  })
})
