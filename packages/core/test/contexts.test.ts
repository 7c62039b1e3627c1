import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { scriptedModel } from '../../testing/src/index.ts'
import { isResumed } from '../src/context.ts'
import { Agent, type AgentContext, type Middleware } from '../src/index.ts'
import { build, oneCall, settled, tool, turn } from './kit.ts'

describe('contexts', () => {
  it('shows in a tool hook what every outer scope offers', async () => {
    let seen: unknown
    const reader: Middleware = {
      name: 'reader',
      state: { n: { default: 7 } },
      tool(ctx, next) {
        const { sessionId, principal, context, turnIndex, stepIndex, callIndex, attempt, callId } = ctx
        const { agent, tool, args, input, startedAt } = ctx
        seen = { sessionId, principal, context, turnIndex, stepIndex, callIndex, attempt, callId }
        expect([agent.name, agent.model, agent.instructions]).toEqual(['tester', 'scripted/model', 'Be good.'])
        expect([tool.name, tool.description, tool.requireApproval]).toEqual(['work', 'The tool work', false])
        expect([args, input[0]?.content, startedAt, ctx.state.n, isResumed(ctx)]).toEqual([{}, 'hi', 5, 7, false])
        return next()
      },
    }
    const clock = { now: () => 5, monotonic: () => 5, after: () => () => {} }
    await turn(oneCall, [reader], {
      name: 'tester',
      instructions: 'Be good.',
      clock,
      tools: [tool('work')],
      of: { id: 's-1', principal: { tenant: 'acme' }, context: { db: 1 } },
    })
    expect(seen).toEqual({
      ...{ sessionId: 's-1', principal: { tenant: 'acme' }, context: { db: 1 } },
      ...{ turnIndex: 0, stepIndex: 0, callIndex: 0, attempt: 1, callId: 'c1' },
    })
  })

  it('gives each layer its own config and all layers of a turn one metadata', async () => {
    const seen: unknown[] = []
    const layer = (name: string): Middleware => ({
      name,
      async turn(ctx, next) {
        ctx.metadata[name] = ctx.config
        await next()
      },
      tool(ctx, next) {
        seen.push([ctx.config, { ...ctx.metadata }])
        return next()
      },
    })
    const { agent } = build(oneCall, [], { tools: [tool('work')] })
    await agent.use(layer('a'), 1).use(layer('b'), 2).run('hi')
    expect(seen).toEqual([
      [1, { a: 1, b: 2 }],
      [2, { a: 1, b: 2 }],
    ])
  })

  it('keeps the metadata of agent, session and turn apart', async () => {
    const seen: unknown[] = []
    const layer: Middleware = {
      name: 'meta',
      async agent(ctx, next) {
        ctx.metadata.agent = 1
        await next()
      },
      async session(ctx, next) {
        seen.push({ ...ctx.metadata })
        ctx.metadata.session = 1
        await next()
      },
      async turn(ctx, next) {
        seen.push({ ...ctx.metadata })
        ctx.metadata.turn = 1
        await next()
      },
    }
    const { agent } = build(['a', 'b'], [layer])
    const session = agent.session({ metadata: { given: 1 } })
    await session.run('1')
    await session.run('2')
    expect(seen).toEqual([{ given: 1 }, {}, {}])
  })

  it('lets an inner scope write a field of an outer one', async () => {
    let outer: unknown
    const layers: Middleware[] = [
      {
        name: 'outer',
        async turn(ctx, next) {
          await next()
          outer = [ctx.output, ctx.input[0]?.content]
        },
      },
      {
        name: 'input',
        async turn(ctx, next) {
          ctx.input = [{ role: 'user', content: 'changed' }]
          await next()
        },
      },
      {
        name: 'output',
        async turn(ctx, next) {
          await next()
          ctx.output += '!'
        },
      },
    ]
    const { model, result } = await turn(['ok'], layers)
    expect(outer).toEqual(['ok!', 'changed'])
    expect(result?.text).toBe('ok!')
    expect(model.requests[0]?.messages).toEqual([{ role: 'user', content: 'changed' }])
  })

  it('sends what the model context holds', async () => {
    const layer: Middleware = {
      name: 'changer',
      model(ctx, next) {
        ctx.addSystemMessage('Be brief.')
        ctx.addMessage({ role: 'user', content: 'one more' })
        ctx.removeTools('other')
        ctx.settings.temperature = 0.5
        ctx.settings = { ...ctx.settings, seed: 1 }
        ctx.toolChoice = 'required'
        ctx.responseFormat = { type: 'json' }
        return next()
      },
    }
    const { model } = await turn(['ok'], [layer], {
      instructions: 'Be good.',
      settings: { topP: 0.1 },
      tools: [tool('work'), tool('other')],
      run: { settings: { maxOutputTokens: 5 } },
    })
    const { messages, tools, settings, toolChoice, responseFormat } = model.requests[0]!
    expect(messages.map(({ role, content }) => [role, content])).toEqual([
      ...[
        ['system', 'Be good.'],
        ['system', 'Be brief.'],
      ],
      ...[
        ['user', 'hi'],
        ['user', 'one more'],
      ],
    ])
    expect(tools.map(({ name }) => name)).toEqual(['work'])
    expect(settings).toEqual({ topP: 0.1, maxOutputTokens: 5, temperature: 0.5, seed: 1 })
    expect([toolChoice, responseFormat]).toEqual(['required', { type: 'json' }])
  })

  it('keeps changes to the messages of one call out of the history and out of the next call', async () => {
    const layer: Middleware = {
      name: 'changer',
      model(ctx, next) {
        if (ctx.callIndex === 0) {
          ctx.messages.push({ role: 'user', content: 'ephemeral' })
          ctx.messages[0] = { ...ctx.messages[0]!, content: 'ephemeral too' }
        }
        return next()
      },
    }
    const { model, session } = await turn(oneCall, [layer], { tools: [tool('work')] })
    expect(JSON.stringify(model.requests[0]?.messages)).toContain('ephemeral too')
    expect(JSON.stringify([model.requests[1]?.messages, session.history])).not.toContain('ephemeral')
  })

  it('lets a turn layer compact what model calls start from, and keeps the history whole', async () => {
    const layer: Middleware = {
      name: 'compactor',
      async turn(ctx, next) {
        ctx.messages = ctx.messages.slice(-1)
        await next()
      },
    }
    const { agent, model } = build(['a', 'b'], [layer])
    const session = agent.session()
    await session.run('1')
    await session.run('2')
    expect(model.requests[1]?.messages.map(({ content }) => content)).toEqual(['2'])
    expect(session.history.map(({ content }) => content)).toEqual(['1', 'a', '2', 'b'])
  })

  it('goes on from a compacted view in the later steps of the turn', async () => {
    const layer: Middleware = {
      name: 'compactor',
      async turn(ctx, next) {
        ctx.messages = [{ role: 'user', content: 'summary' }]
        await next()
      },
    }
    const { model } = await turn(oneCall, [layer], { tools: [tool('work')] })
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
    expect(model.requests[1]?.messages[0]?.content).toBe('summary')
  })

  it('calls another model where a layer or a run says so', async () => {
    const other = scriptedModel(['from other'], { id: 'scripted/other' })
    const layer: Middleware = {
      name: 'router',
      model(ctx, next) {
        ctx.setModel(other)
        expect(ctx.model).toBe('scripted/other')
        return next()
      },
    }
    const { result, model } = await turn([], [layer])
    expect([result?.text, model.calls]).toEqual(['from other', 0])
    const mine = scriptedModel(['mine'])
    expect((await build([]).agent.run('hi', { model: mine })).text).toBe('mine')
  })

  it('resolves a model string with the principal, and fails with a typed error without a resolver', async () => {
    const seen: unknown[] = []
    const resolveModel = (ref: string, { principal }: { principal: unknown }) => {
      seen.push([ref, principal])
      return scriptedModel(['resolved'])
    }
    const options = { model: 'some/model', resolveModel, of: { principal: 'ada' } }
    expect((await turn([], [], options)).result?.text).toBe('resolved')
    expect(seen).toEqual([['some/model', 'ada']])
    expect((await turn([], [], { model: 'some/model' })).error).toMatchObject({ code: 'model.unresolved' })
    expect((await turn([], [], { model: 'x', resolveModel: (() => 7) as never })).error).toMatchObject({
      code: 'model.invalid',
    })
  })

  it('asks a function for the instructions with the context of the turn', async () => {
    const { model } = await turn(['ok'], [], {
      instructions: (ctx) => `You help ${(ctx.principal as { name: string }).name}.`,
      of: { principal: { name: 'Ada' } },
    })
    expect(model.requests[0]?.messages[0]).toEqual({ role: 'system', content: 'You help Ada.' })
  })

  it('parses context and principal by their schemas, and refuses what does not fit', async () => {
    const { model } = build(['ok', 'ok'])
    const agent = new Agent({
      model,
      context: z.object({ locale: z.string().default('en') }),
      principal: z.object({ tenant: z.string() }),
    })
    let seen: unknown
    agent.use((ctx, next) => {
      seen = [ctx.context.locale, ctx.principal.tenant]
      return next()
    })
    await agent.session({ principal: { tenant: 'acme' } }).run('hi', { context: {} as never })
    expect(seen).toEqual(['en', 'acme'])
    expect(() => agent.session({ principal: { tenant: 7 } as never })).toThrow(
      expect.objectContaining({ code: 'session.principal' }),
    )
    const session = agent.session({ principal: { tenant: 'acme' } })
    expect((await settled(session.run('hi', { context: { locale: 1 } as never }))).error).toMatchObject({
      code: 'run.options',
    })
  })

  it('registers tools in an agent hook alone', async () => {
    const layers: Middleware[] = [
      {
        name: 'early',
        async agent(ctx, next) {
          ctx.registerTool(tool('work', () => 'registered'))
          await next()
        },
      },
      {
        name: 'late',
        turn(ctx, next) {
          expect(() => (ctx as unknown as AgentContext).registerTool(tool('x'))).toThrow(/"late".*"x"/)
          return next()
        },
      },
    ]
    const { result, model } = await turn(oneCall, layers)
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['work'])
    expect(result?.toolCalls[0]?.result.content).toBe('registered')
  })

  it('runs a once() effect one time for a key in a turn, and lets a failure try again', async () => {
    let ran = 0
    const seen: unknown[] = []
    const effect = async () => {
      if (++ran === 1) throw new Error('first')
      return 'sent'
    }
    const layer: Middleware = {
      name: 'effect',
      async turn(ctx, next) {
        await ctx.once('mail', effect).catch(() => {})
        seen.push(...(await Promise.all([ctx.once('mail', effect), ctx.once('mail', effect)])))
        await next()
      },
    }
    await turn(['ok'], [layer])
    expect([ran, seen]).toEqual([2, ['sent', 'sent']])
  })

  it('awaits deferred work before the run settles, and never fails by it', async () => {
    const log: string[] = []
    const layer: Middleware = {
      name: 'deferrer',
      async turn(ctx, next) {
        ctx.defer(
          Promise.resolve()
            .then(() => new Promise((resolve) => setTimeout(resolve, 1)))
            .then(() => log.push('deferred')),
        )
        ctx.defer(Promise.reject(new Error('lost')))
        await next()
      },
    }
    const { agent, log: logged } = build(['ok'], [layer])
    agent.on('observer:error', ({ event, error }) => log.push(`${event}: ${(error as Error).message}`))
    const { text } = await agent.run('hi')
    expect([text, log]).toEqual(['ok', ['defer: lost', 'deferred']])
    expect(logged[0]?.message).toContain('"deferrer"')
  })
})
