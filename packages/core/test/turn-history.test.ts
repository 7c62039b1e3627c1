import { describe, expect, it } from 'vitest'
import type { Message, Middleware } from '../src/index.ts'
import { assistantTexts, build, failure, gate, oneCall, reach, tool, traffic, turn } from './kit.ts'

const apology: Middleware = {
  name: 'apology',
  turn: (ctx, next) =>
    next().catch(() => {
      ctx.output = 'Sorry.'
    }),
}
const failing: Middleware = {
  name: 'failing',
  async turn(_, next) {
    await next()
    throw new Error('no')
  },
}

describe('the turn and its history', () => {
  it('loops from model to tools to model, and keeps all of it', async () => {
    const steps = [{ text: 'Looking. ', toolCalls: [{ name: 'work', callId: 'c1', args: { n: 1 } }] }, 'Found it.']
    const { result, session } = await turn(steps, [], { tools: [tool('work', ({ n }) => `result ${n}`)] })
    expect(session.history).toEqual([
      { role: 'user', content: 'hi' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Looking. ' },
          { type: 'tool-call', callId: 'c1', name: 'work', args: { n: 1 } },
        ],
      },
      { role: 'tool', content: [{ type: 'tool-result', callId: 'c1', name: 'work', content: 'result 1' }] },
      { role: 'assistant', content: 'Found it.' },
    ])
    expect(result).toMatchObject({ text: 'Found it.', output: 'Found it.', status: 'completed', pending: [] })
    expect(result?.messages).toEqual([...session.history])
    expect(result?.usage).toEqual({ inputTokens: 20, outputTokens: 10, calls: 2 })
  })

  it('sends the whole conversation in the next turn, tool traffic included', async () => {
    const { agent, model } = build([...oneCall, 'second'], [], { tools: [tool('work')] })
    const session = agent.session()
    await session.run('1')
    const { messages } = await session.run('2')
    expect(model.requests[2]?.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ])
    expect(messages.map(({ content }) => content)).toEqual(['2', 'second'])
  })

  it('takes a message or several as input, as copies', async () => {
    const input: Message[] = [
      { role: 'user', content: [{ type: 'text', text: 'look' }] },
      { role: 'user', content: 'now' },
    ]
    const { session } = await turn(['ok'], [], { input })
    ;(input[0]!.content as { text: string }[])[0]!.text = 'changed'
    expect(session.history[0]?.content).toEqual([{ type: 'text', text: 'look' }])
    expect((await build(['ok']).agent.run({ role: 'user', content: 'one' })).messages[0]?.content).toBe('one')
  })

  it('keeps reasoning with its provider metadata and sends it back in the next step', async () => {
    const signed = {
      type: 'reasoning-delta' as const,
      delta: 'hm',
      id: 'r',
      providerMetadata: { anthropic: { signature: 's' } },
    }
    const { model } = await turn([{ chunks: [signed], toolCalls: [{ name: 'work', callId: 'c' }] }, 'ok'], [], {
      tools: [tool('work')],
    })
    expect(model.requests[1]?.messages[1]?.content).toMatchObject([
      { type: 'reasoning', text: 'hm', providerMetadata: { anthropic: { signature: 's' } } },
      { type: 'tool-call', callId: 'c' },
    ])
  })

  it('keeps files, and text blocks apart by their id', async () => {
    const file = { type: 'file' as const, data: new Uint8Array([1]), mediaType: 'image/png' }
    const chunks = [
      { type: 'text-delta' as const, delta: 'a', id: '1' },
      { type: 'text-delta' as const, delta: 'b', id: '2' },
      file,
    ]
    const { session, result } = await turn([{ chunks }])
    expect(session.history[1]?.content).toEqual([{ type: 'text', text: 'a' }, { type: 'text', text: 'b' }, file])
    expect(result?.text).toBe('ab')
  })

  it('gives repeated and empty call ids a name of their own', async () => {
    const call = { name: 'work', callId: 'same' }
    const steps = [{ toolCalls: [call, call, { name: 'work', callId: '' }] }, { toolCalls: [call] }, 'done']
    const { session } = await turn(steps, [], { tools: [tool('work')] })
    const { calls, results } = traffic(session.history)
    expect(new Set(calls).size).toBe(4)
    expect(results).toEqual(calls)
  })

  it('answers by a turn layer alone: input and answer stay', async () => {
    const { session, result, model, shown } = await turn(
      [],
      [
        (ctx) => {
          ctx.output = 'closed today'
        },
      ],
    )
    expect(session.history.map(({ content }) => content)).toEqual(['hi', 'closed today'])
    expect([result?.status, result?.text, shown, model.calls]).toEqual(['completed', 'closed today', 'closed today', 0])
  })

  it('replaces the last assistant text where a turn layer rewrites the output', async () => {
    const layer: Middleware = {
      name: 'rewriter',
      async turn(ctx, next) {
        ctx.hold()
        await next()
        ctx.output = ctx.output!.toUpperCase()
        expect(ctx.history.at(-1)?.content).toBe('DONE')
      },
    }
    const { session, result, shown } = await turn(oneCall, [layer], { tools: [tool('work')] })
    expect([session.history.at(-1)?.content, result?.text, shown]).toEqual(['DONE', 'DONE', 'DONE'])
  })

  it.each(['the answer', ''])(
    'drops the thoughts of an answer that a holding turn layer replaces with "%s"',
    async (text) => {
      const holder: Middleware = {
        name: 'holder',
        async turn(ctx, next) {
          ctx.hold()
          await next()
          ctx.output = text
        },
      }
      const { session, shown, events } = await turn([{ reasoning: 'a secret thought', text: 'a secret' }], [holder])
      expect(reach([events, session.history])).not.toContain('secret')
      expect([shown, assistantTexts(session.history)]).toEqual([text, text === '' ? [] : [text]])
    },
  )

  it('drops the thoughts of an answer that a layer replaces after a layer inside has failed', async () => {
    const { session, shown } = await turn([{ reasoning: 'a thought', text: 'done' }], [apology, failing])
    expect([shown, session.history.at(-1)?.content]).toEqual(['Sorry.', 'Sorry.'])
  })

  it('has what a pipe makes of the end of a held answer behind the results of its tools', async () => {
    const stop = new AbortController()
    const marked: Middleware = {
      name: 'marked',
      turn(ctx, next) {
        ctx.pipe(async function* (chunks, end) {
          for await (const chunk of chunks) yield chunk
          if ((await end()).error !== undefined) yield { type: 'text-delta', delta: '(cut)' }
        })
        return next()
      },
    }
    const holder: Middleware = {
      name: 'holder',
      turn(ctx, next) {
        ctx.hold()
        return next({ signal: stop.signal })
      },
    }
    const work = tool('work', () => stop.abort(new Error('too late')))
    const { session, shown } = await turn(oneCall, [marked, holder], { tools: [work] })
    expect(session.history.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect([session.history.at(-1), shown]).toMatchObject([{ content: '(cut)', interrupted: true }, '(cut)'])
  })

  it('throws away an output that was set before the core ran', async () => {
    const seen: unknown[] = []
    const layer: Middleware = {
      name: 'early',
      async turn(ctx, next) {
        ctx.output = 'early'
        seen.push(ctx.output)
        await next()
        seen.push(ctx.output)
      },
    }
    const { result, session } = await turn(['real'], [layer])
    expect([result?.text, seen, session.history.length]).toEqual(['real', ['early', 'real'], 2])
  })

  it('has the answer where a turn layer sets an output while its own next() runs', async () => {
    const [answered, set] = [gate(), gate()]
    const outer: Middleware = {
      name: 'outer',
      async turn(ctx, next) {
        const inside = next()
        await answered.promise
        ctx.output = 'early'
        set.open()
        await inside
      },
    }
    const inner: Middleware = {
      name: 'inner',
      async turn(_, next) {
        await next()
        answered.open()
        await set.promise
      },
    }
    const { result, session, shown } = await turn(['real'], [outer, inner])
    expect([result?.text, session.history.at(-1)?.content, shown]).toEqual(['real', 'real', 'real'])
  })

  it('answers by a turn layer after the core failed', async () => {
    const layer: Middleware = {
      name: 'apology',
      turn: (ctx, next) =>
        next().catch(() => {
          ctx.output = 'Sorry.'
        }),
    }
    const { result, session, shown } = await turn([{ chunks: ['Half'], error: new Error('down') }], [layer])
    expect([result?.status, result?.text, shown]).toEqual(['completed', 'Sorry.', 'Sorry.'])
    expect(session.history.map(({ content }) => content)).toEqual(['hi', 'Sorry.'])
  })

  it('has an own answer of a turn layer in the place of all that a hold inside let out at once', async () => {
    const holder: Middleware = {
      name: 'holder',
      turn(ctx, next) {
        ctx.hold()
        return next()
      },
    }
    const steps = [{ text: 'So far.', toolCalls: [{ name: 'work', callId: 'c1' }] }, 'done']
    const { session, shown } = await turn(steps, [apology, failing, holder], { tools: [tool('work')] })
    expect([shown, assistantTexts(session.history)]).toEqual(['Sorry.', ['', 'Sorry.']])
  })

  it('refuses an output that is no text', async () => {
    const { error } = await turn(
      [],
      [
        {
          name: 'wrong',
          turn(ctx) {
            ctx.output = 7 as never
          },
        },
      ],
    )
    expect(error).toMatchObject({ code: 'layer.result', message: expect.stringContaining('"wrong"') })
  })

  it('goes on after a failed turn with a history that is still valid', async () => {
    const broken: Middleware = {
      name: 'broken',
      tool(ctx, next) {
        if (ctx.turnIndex === 0) throw new Error('broken')
        return next()
      },
    }
    const { agent, model } = build([...oneCall.slice(0, 1), 'fine'], [broken], { tools: [tool('work')] })
    const session = agent.session()
    await failure(session.run('1'))
    expect((await session.run('2')).text).toBe('fine')
    const { calls, results } = traffic(model.requests[1]!.messages)
    expect([calls, results]).toEqual([['c1'], ['c1']])
  })

  it('is append-only: everything but push and reading is refused', async () => {
    const { session } = await turn(['ok'])
    const history = session.history as unknown as unknown[]
    const vandals = [
      () => history.pop(),
      () => history.splice(0),
      () => {
        history.length = 0
      },
      () => {
        history[0] = {}
      },
      () => history.sort(),
      () => history.reverse(),
      () => delete history[0],
      () => Object.defineProperty(history, 0, { value: 1 }),
    ]
    for (const vandal of vandals) expect(vandal).toThrow(expect.objectContaining({ code: 'history.invalid' }))
    expect(() => {
      ;(history[0] as Message).content = 'forged'
    }).toThrow(TypeError)
    expect(session.history.map(({ content }) => content)).toEqual(['hi', 'ok'])
  })

  it('takes pushed messages as copies and refuses what is no message', async () => {
    const mine: Message = { role: 'user', content: 'pushed' }
    const { session } = await turn(
      ['ok'],
      [
        (ctx, next) => {
          ctx.history.push(mine)
          mine.content = 'changed'
          return next()
        },
      ],
    )
    expect(session.history.map(({ content }) => content)).toContain('pushed')
    expect(() => session.history.push({ role: 'wizard' } as never)).toThrow(
      expect.objectContaining({ code: 'history.invalid' }),
    )
  })

  it('leaves no message for an empty answer', async () => {
    const { result, session } = await turn([{ text: '' }])
    expect([result?.status, result?.text, session.history.length]).toEqual(['completed', '', 1])
  })

  it('numbers turns, and gives each an id of its own', async () => {
    const { agent } = build(['a', 'b'])
    const session = agent.session()
    const [first, second] = [await session.run('1'), await session.run('2')]
    expect(first.turnId).not.toBe(second.turnId)
    expect([first.sessionId, second.sessionId]).toEqual([session.id, session.id])
  })

  it('closes calls that wait in a restored conversation as not approved, before the next input', async () => {
    const { agent, model } = build(['fine'])
    const session = agent.session()
    const call = { type: 'tool-call' as const, callId: 'c1', name: 'work', args: {} }
    session.restore({
      history: [
        { role: 'user', content: 'do it' },
        { role: 'assistant', content: [call] },
      ],
      state: {},
    })
    expect(session.pending).toEqual([{ callId: 'c1', name: 'work', args: {} }])
    await session.run('never mind')
    expect(session.history.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user', 'assistant'])
    expect(traffic(model.requests[0]!.messages).results).toEqual(['c1'])
    expect(session.pending).toEqual([])
  })

  it.each(['user', 'system'] as const)(
    'closes calls that wait before a %s message that was pushed since',
    async (role) => {
      const { agent, model } = build(['fine'])
      const session = agent.session()
      const call = { type: 'tool-call' as const, callId: 'c1', name: 'work', args: {} }
      session.restore({ history: [{ role: 'assistant', content: [call] }], state: {} })
      session.history.push({ role, content: 'by the way' })
      expect(session.pending.map(({ callId }) => callId)).toEqual(['c1'])
      await session.run('never mind')
      expect(session.history.map(({ role }) => role)).toEqual(['assistant', 'tool', role, 'user', 'assistant'])
      expect(traffic(model.requests[0]!.messages).results).toEqual(['c1'])
    },
  )

  it('warns once of an output that is set inside the core, where the answer replaces it', async () => {
    const warnings: string[] = []
    const logger = { warn: (message: string) => warnings.push(message), error() {} }
    const layer: Middleware = {
      name: 'eager',
      async model(ctx, next) {
        ;(ctx as { output: string }).output = 'mine' // without types
        return next()
      },
    }
    const { result } = await turn([...oneCall], [layer], { tools: [tool('work')], logger })
    expect(result?.text).toBe('done')
    expect(warnings).toEqual([expect.stringContaining('"eager" set ctx.output in the model scope')])
  })

  it('closes calls that wait before a turn layer looks at the messages', async () => {
    const peek: Middleware = {
      name: 'peek',
      async turn(ctx, next) {
        ctx.messages = [...ctx.messages]
        await next()
      },
    }
    const { agent, model } = build(['fine'], [peek])
    const session = agent.session()
    const call = { type: 'tool-call' as const, callId: 'c1', name: 'work', args: {} }
    session.restore({
      history: [
        { role: 'user', content: 'do it' },
        { role: 'assistant', content: [call] },
      ],
      state: {},
    })
    await session.run('never mind')
    expect(traffic(model.requests[0]!.messages).results).toEqual(['c1'])
  })

  it('sends an output that is set after a stop in tools through the pipes of outer turn layers', async () => {
    const shout: Middleware = {
      name: 'shout',
      async turn(ctx, next) {
        ctx.pipe(async function* (chunks) {
          for await (const chunk of chunks)
            yield chunk.type === 'text-delta' ? { ...chunk, delta: chunk.delta.toUpperCase() } : chunk
        })
        await next()
      },
    }
    const answer: Middleware = {
      name: 'answer',
      async turn(ctx, next) {
        await next()
        ctx.output = 'that is all'
      },
      async tool(ctx, next) {
        ctx.stop('enough')
        return next()
      },
    }
    const { result, all, session } = await turn([{ toolCalls: [{ name: 'work' }] }], [shout, answer], {
      tools: [tool('work')],
    })
    expect([result?.status, result?.text, all]).toEqual(['stopped', 'THAT IS ALL', 'THAT IS ALL'])
    expect(session.history.at(-1)).toEqual({ role: 'assistant', content: 'THAT IS ALL' })
  })

  it.each(['', 'Working. '])(
    'has what a pipe still said behind the last tools, where a layer answers anew after a failure: "%s"',
    async (text) => {
      const answer: Middleware = {
        name: 'answer',
        async turn(ctx, next) {
          ctx.pipe(async function* (chunks) {
            yield* chunks
            yield { type: 'text-delta', delta: '(checked) ' }
          })
          await next().catch(() => {})
          ctx.output = 'Sorry.'
        },
      }
      const fails: Middleware = {
        name: 'fails',
        async turn(_, next) {
          await next()
          throw new Error('late')
        },
      }
      const { result, all, session } = await turn([{ text, toolCalls: [{ name: 'work' }] }], [answer, fails], {
        maxSteps: 1,
        tools: [tool('work')],
      })
      expect([result?.text, all]).toEqual(['Sorry.', assistantTexts(session.history).join('')])
      expect(all.endsWith('(checked) Sorry.')).toBe(true)
    },
  )
})
