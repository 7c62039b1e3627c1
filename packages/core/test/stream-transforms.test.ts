import { describe, expect, it } from 'vitest'
import type { ContentChunk, Middleware, ModelChunk, Part, StreamVerbs } from '../src/index.ts'
import { assistantTexts, oneCall, only, reach, tool, turn, types } from './kit.ts'

type Verbs = Parameters<NonNullable<Middleware['model']>>[0]
/** A model layer that only registers transforms. */
const stream = (name: string, register: (ctx: Verbs) => void): Middleware => ({
  name,
  model(ctx, next) {
    register(ctx)
    return next()
  },
})
const mapText = (map: (text: string) => string) => (chunk: ContentChunk) =>
  chunk.type === 'text-delta' ? { ...chunk, delta: map(chunk.delta) } : undefined
const upper = stream('upper', (ctx) => ctx.onChunk(mapText((text) => text.toUpperCase())))

/** Holds text back until it can tell whether a pattern goes across chunk edges. */
const mask = (pattern: string) =>
  async function* (chunks: AsyncIterable<ContentChunk>): AsyncIterable<ContentChunk> {
    let kept = ''
    for await (const chunk of chunks) {
      if (chunk.type !== 'text-delta') {
        yield chunk
        continue
      }
      kept = (kept + chunk.delta).replaceAll(pattern, '***')
      const safe = Math.max(0, kept.length - pattern.length + 1)
      if (safe > 0) yield { type: 'text-delta', delta: kept.slice(0, safe) }
      kept = kept.slice(safe)
    }
    if (kept !== '') yield { type: 'text-delta', delta: kept }
  }

/** Stream, response, history and result all say the same. */
function agree({ shown, result, session }: Awaited<ReturnType<typeof turn>>, text: string) {
  expect([shown, result?.text, result?.output, assistantTexts(session.history).at(-1) ?? '']).toEqual([
    text,
    text,
    text,
    text,
  ])
}

it('a layer that holds may rewrite the thoughts alone: the original ones are not streamed', async () => {
  const quiet: Middleware = {
    name: 'quiet',
    async model(ctx, next) {
      ctx.hold()
      const response = await next()
      const content: Part[] = [
        { type: 'reasoning', text: '…' },
        { type: 'text', text: 'Hi.' },
      ]
      return { ...response, reasoning: '…', message: { role: 'assistant', content } }
    },
  }
  const { events, session } = await turn([{ reasoning: 'secret', text: 'Hi.' }], [quiet])
  expect(reach([events, session.history])).not.toContain('secret')
  expect(only(events, 'reasoning-delta')).toMatchObject([{ delta: '…' }])
})

describe('onChunk', () => {
  it('maps, drops, expands and lets pass; stream, response and history agree', async () => {
    const responses: string[] = []
    const seen: Middleware = {
      name: 'seen',
      async model(_, next) {
        const response = await next()
        responses.push(response.text)
        return response
      },
    }
    const rewrite = stream('rewrite', (ctx) =>
      ctx.onChunk((chunk) => {
        if (chunk.type !== 'text-delta') return
        if (chunk.delta === 'drop') return null
        if (chunk.delta === 'twice') return [chunk, { ...chunk }]
        return chunk
      }),
    )
    const run = await turn([{ chunks: ['a', 'drop', 'twice', 'b'] }], [seen, rewrite])
    agree(run, 'atwicetwiceb')
    expect(responses).toEqual(['atwicetwiceb'])
  })

  it('goes from the innermost layer outward', async () => {
    const tag = (name: string) => stream(name, (ctx) => ctx.onChunk(mapText((text) => `${name}(${text})`)))
    agree(await turn([{ chunks: ['x'] }], [tag('A'), tag('B'), tag('C')]), 'A(B(C(x)))')
  })

  it('takes several transforms of one layer in the order of their registration', async () => {
    const two = stream('two', (ctx) => {
      ctx.onChunk(mapText((text) => `${text}1`))
      ctx.onChunk(mapText((text) => `${text}2`))
    })
    agree(await turn([{ chunks: ['x'] }], [two]), 'x12')
  })

  it('cannot drop the finish: the call still ends, with its usage', async () => {
    const silent = stream('silent', (ctx) => ctx.onChunk(() => null))
    const { events, result } = await turn(['gone'], [silent])
    expect(types(events)).toContain('finish')
    expect(result).toMatchObject({ text: '', status: 'completed', usage: { outputTokens: 5 } })
  })

  it('sees every kind of chunk and keeps what it does not touch', async () => {
    const chunk: ModelChunk = { type: 'reasoning-delta', delta: 'hm', providerMetadata: { p: { signature: 's' } } }
    const { session } = await turn([{ chunks: [chunk, 'ok'] }], [upper])
    expect(session.history[1]?.content).toEqual([
      { type: 'reasoning', text: 'hm', providerMetadata: { p: { signature: 's' } } },
      { type: 'text', text: 'OK' },
    ])
  })

  it.each([
    ['later', Promise.resolve()],
    ['a finish', { type: 'finish', reason: 'stop', usage: {} }],
    ['a text', 'x'],
    ['nonsense', { type: 'spell' }],
  ])('that gives %s is an error that names the layer', async (_, given) => {
    const { error } = await turn(['ok'], [stream('wrong', (ctx) => ctx.onChunk(() => given as never))])
    expect(error).toMatchObject({ code: 'layer.result', details: { layer: 'wrong' } })
  })

  it('that throws fails the call with what it threw, and a layer outside may retry', async () => {
    const thrown = new Error('in the stream')
    const once = stream('once', (ctx) =>
      ctx.onChunk(() => {
        if (ctx.attempt === 1) throw thrown
      }),
    )
    const retry: Middleware = {
      name: 'retry',
      model: (_, next) =>
        next().catch((error) => {
          expect(error).toBe(thrown)
          return next()
        }),
    }
    agree(await turn(['lost', 'kept'], [retry, once]), 'kept')
  })

  it.each(['onChunk', 'pipe', 'hold'] as const)('%s after next() is an error that names the layer', async (verb) => {
    const late: Middleware = {
      name: 'late',
      async model(ctx, next) {
        const response = await next()
        ctx[verb]((() => {}) as never)
        return response
      },
    }
    expect((await turn(['ok'], [late])).error).toMatchObject({
      code: 'layer.late_transform',
      details: { layer: 'late' },
    })
  })

  it('in a tool hook is an error', async () => {
    const wrong: Middleware = {
      name: 'wrong',
      tool(ctx, next) {
        ;(ctx as unknown as StreamVerbs).onChunk(() => {})
        return next()
      },
    }
    expect((await turn(oneCall, [wrong], { tools: [tool('work')] })).error).toMatchObject({
      code: 'layer.late_transform',
    })
  })
})

describe('pipe', () => {
  it('holds text back for patterns across chunk edges', async () => {
    const layer = stream('mask', (ctx) => ctx.pipe(mask('SECRET')))
    agree(
      await turn([{ chunks: ['my S', 'EC', 'RET and SECRE', 'TSECRET', ' SEC'] }], [layer]),
      'my *** and ****** SEC',
    )
  })

  it('passes what an inner stage appends at its end through the outer stages', async () => {
    const appender = stream('appender', (ctx) =>
      ctx.pipe(async function* (chunks) {
        yield* chunks
        yield { type: 'text-delta', delta: ' the end' }
      }),
    )
    agree(await turn(['so'], [upper, appender]), 'SO THE END')
  })

  it('passes what an inner layer adds to its response through the outer stages, held text first', async () => {
    const adder: Middleware = {
      name: 'adder',
      async model(_, next) {
        const response = await next()
        return { ...response, text: `${response.text}RET!` }
      },
    }
    agree(await turn([{ chunks: ['a SEC'] }], [stream('mask', (ctx) => ctx.pipe(mask('SECRET'))), adder]), 'a ***!')
  })

  it('may end early: what comes later is dropped, and the call still finishes', async () => {
    const first = stream('first', (ctx) =>
      ctx.pipe(async function* (chunks) {
        for await (const chunk of chunks) {
          yield chunk
          return
        }
      }),
    )
    agree(await turn([{ chunks: ['one', 'two', 'three'] }], [first]), 'one')
  })

  it('may yield before it reads, and read nothing at all', async () => {
    const greeting = stream('greeting', (ctx) =>
      ctx.pipe(async function* (chunks) {
        yield { type: 'text-delta', delta: 'Hi. ' }
        yield* chunks
      }),
    )
    const mute = stream('mute', (ctx) => ctx.pipe(async function* () {}))
    agree(await turn([{ chunks: ['ok'] }], [greeting]), 'Hi. ok')
    agree(await turn([{ chunks: ['a', 'b', 'c', 'd'] }], [mute]), '')
  })

  it('begins afresh for each attempt and each call', async () => {
    const count = stream('count', (ctx) =>
      ctx.pipe(async function* (chunks) {
        let n = 0
        for await (const chunk of chunks)
          yield chunk.type === 'text-delta' ? { ...chunk, delta: `${++n}${chunk.delta} ` } : chunk
      }),
    )
    const retry: Middleware = { name: 'retry', model: (_, next) => next().catch(() => next()) }
    agree(
      await turn([{ chunks: ['a', 'b'], error: new Error('cut') }, { chunks: ['c', 'd'] }], [retry, count]),
      '1c 2d ',
    )
  })

  it('that throws fails the call with its error, also after the last chunk', async () => {
    const thrown = new Error('in the pipe')
    const early = stream('early', (ctx) =>
      ctx.pipe(async function* (chunks) {
        throwIt(thrown)
        yield* chunks
      }),
    )
    const late = stream('late', (ctx) =>
      ctx.pipe(async function* (chunks) {
        yield* chunks
        throwIt(thrown)
      }),
    )
    expect((await turn(['a b c'], [early])).error).toBe(thrown)
    expect((await turn(['a b c'], [late])).error).toBe(thrown)
  })

  it('is closed when the call is left: its finally runs', async () => {
    const log: string[] = []
    const layer = stream('pipe', (ctx) =>
      ctx.pipe(async function* (chunks) {
        try {
          yield* chunks
        } finally {
          log.push('closed')
        }
      }),
    )
    await turn([{ chunks: ['a'], error: new Error('down') }], [layer])
    expect(log).toEqual(['closed'])
  })
})

function throwIt(error: unknown): never {
  throw error
}

describe('hold', () => {
  it('has what a pipe of the same layer gave only at the end', async () => {
    const both: Middleware = {
      name: 'both',
      async model(ctx, next) {
        ctx.hold()
        ctx.pipe(mask('SECRET'))
        const response = await next()
        return { ...response, text: `${response.text}!` }
      },
    }
    agree(await turn([{ chunks: ['a SEC', 'RET b SEC'] }], [both]), 'a *** b SEC!')
  })

  it('lets nothing leave until the layer returns, then releases it as it was', async () => {
    const log: string[] = []
    const listen = stream('listen', (ctx) => ctx.onChunk((chunk) => void log.push(chunk.type)))
    const holder: Middleware = {
      name: 'holder',
      async model(ctx, next) {
        ctx.hold()
        const response = await next()
        log.push('held')
        return response
      },
    }
    const run = await turn([{ chunks: ['a', 'b'] }], [listen, holder])
    expect(log).toEqual(['held', 'text-delta', 'text-delta'])
    agree(run, 'ab')
  })

  it('lets the layer rewrite freely: the new answer is streamed instead', async () => {
    const holder: Middleware = {
      name: 'holder',
      async model(ctx, next) {
        ctx.hold()
        const response = await next()
        response.text = response.text.replace('secret', '***')
        return response
      },
    }
    agree(await turn(['my secret'], [upper, holder]), 'MY ***')
  })

  it('lets layers inside it rewrite and retry without a reset', async () => {
    const holder = stream('holder', (ctx) => ctx.hold())
    const rewriter: Middleware = {
      name: 'rewriter',
      async model(_, next) {
        const { text } = await next()
        return `[${text}]`
      },
    }
    const retry: Middleware = { name: 'retry', model: (_, next) => next().catch(() => next()) }
    const run = await turn(
      [{ chunks: ['Hel'], error: new Error('cut') }, { chunks: ['Hello'] }],
      [holder, retry, rewriter],
    )
    agree(run, '[Hello]')
    expect([run.all, types(run.events).includes('model:reset')]).toEqual(['[Hello]', false])
  })

  it('lets the layer change, add and remove tool calls', async () => {
    const holder: Middleware = {
      name: 'holder',
      async model(ctx, next) {
        ctx.hold()
        const response = await next()
        return ctx.callIndex > 0
          ? response
          : { ...response, toolCalls: [{ callId: 'mine', name: 'work', args: { n: 2 } }] }
      },
    }
    const ran: unknown[] = []
    const { events, session } = await turn([{ toolCalls: [{ name: 'other', callId: 'theirs' }] }, 'done'], [holder], {
      tools: [tool('work', (args) => ran.push(args)), tool('other')],
    })
    expect(ran).toEqual([{ n: 2 }])
    expect(only(events, 'tool-input-start').map(({ callId }) => callId)).toEqual(['mine'])
    expect(JSON.stringify(session.history)).not.toContain('theirs')
  })
})

describe('a layer that returns something else than it streamed', () => {
  const returns = (change: (text: string) => string, name = 'rewriter'): Middleware => ({
    name,
    async model(_, next) {
      const response = await next()
      response.text = change(response.text)
      return response
    },
  })

  it('may add at the end: the rest is streamed', async () => {
    agree(await turn(['so'], [returns((text) => `${text} be it`)]), 'so be it')
  })

  it.each([
    ['replaces', () => 'other'],
    ['shortens', (text: string) => text.slice(1)],
    ['empties', () => ''],
    ['prepends', (text: string) => `>${text}`],
  ])('fails the run where it %s without hold, and is named', async (_, change) => {
    const { error, shown } = await turn([{ chunks: ['leak', 'ed'] }], [returns(change)])
    expect(error).toMatchObject({ code: 'stream.mismatch', details: { layer: 'rewriter' } })
    expect(error?.message).toContain('ctx.hold()')
    expect(shown).toBe('leaked')
  })

  it('fails where it changes, drops or reorders tool calls', async () => {
    const calls = [
      { name: 'work', callId: 'a', args: { n: 1 } },
      { name: 'work', callId: 'b' },
    ]
    for (const change of [
      (all: unknown[]) => all.slice(1),
      (all: unknown[]) => [...all].reverse(),
      (all: { args: object }[]) => [{ ...all[0], args: { n: 2 } }, all[1]],
    ]) {
      const layer: Middleware = {
        name: 'rewriter',
        async model(_, next) {
          const response = await next()
          return { ...response, toolCalls: change(response.toolCalls as never) as never }
        },
      }
      expect((await turn([{ toolCalls: calls }], [layer], { tools: [tool('work')] })).error?.code).toBe(
        'stream.mismatch',
      )
    }
  })

  it('sees a change of arguments in place', async () => {
    const layer: Middleware = {
      name: 'rewriter',
      async model(_, next) {
        const response = await next()
        response.toolCalls[0]!.args.n = 2
        return response
      },
    }
    expect(
      (await turn([{ toolCalls: [{ name: 'work', args: { n: 1 } }] }], [layer], { tools: [tool('work')] })).error?.code,
    ).toBe('stream.mismatch')
  })

  it('may add a tool call at the end, which runs', async () => {
    const ran: unknown[] = []
    const layer: Middleware = {
      name: 'adder',
      async model(ctx, next) {
        const response = await next()
        if (ctx.callIndex === 0) response.toolCalls.push({ callId: 'mine', name: 'work', args: { n: 1 } })
        return response
      },
    }
    const { events } = await turn(['first', 'done'], [layer], { tools: [tool('work', (args) => ran.push(args))] })
    expect([ran, types(events).filter((type) => type === 'tool-input-start')]).toEqual([
      [{ n: 1 }],
      ['tool-input-start'],
    ])
  })

  it('may answer instead of a failed call: what was shown is reset', async () => {
    const layer: Middleware = { name: 'fallback', model: (_, next) => next().catch(() => 'Instead.') }
    const run = await turn([{ chunks: ['Half'], error: new Error('cut') }], [layer])
    agree(run, 'Instead.')
    expect(run.all).toBe('HalfInstead.')
  })

  it('is no mismatch with equal values in new objects', async () => {
    const layer: Middleware = {
      name: 'copier',
      async model(_, next) {
        return structuredClone(await next())
      },
    }
    const { result } = await turn(
      [{ text: 'same', toolCalls: [{ name: 'work', args: { a: [1, { b: 2 }] } }] }, 'done'],
      [layer],
      { tools: [tool('work')] },
    )
    expect(result?.text).toBe('done')
  })
})

describe('stream verbs in a turn layer', () => {
  it('act on every model call, outside the model layers', async () => {
    const turnUpper: Middleware = {
      name: 'turn-upper',
      turn(ctx, next) {
        ctx.onChunk(mapText((text) => text.toUpperCase()))
        return next()
      },
    }
    const tagger = stream('tagger', (ctx) => ctx.onChunk(mapText((text) => `${text}x`)))
    const run = await turn([{ chunks: ['a'], toolCalls: [{ name: 'work' }] }, { chunks: ['b'] }], [tagger, turnUpper], {
      tools: [tool('work')],
    })
    expect(run.all).toBe('AXBX')
    agree(run, 'BX')
    expect(assistantTexts(run.session.history)).toEqual(['AX', 'BX'])
  })

  it('pipe holds back over the end of a call, and the history has what was shown', async () => {
    const layer: Middleware = {
      name: 'mask',
      turn(ctx, next) {
        ctx.pipe(mask('SECRET'))
        return next()
      },
    }
    agree(await turn([{ chunks: ['a SEC', 'RET b SEC'] }], [layer]), 'a *** b SEC')
  })

  it('hold keeps the answer until the layer returns, which may replace it', async () => {
    const layer: Middleware = {
      name: 'holder',
      async turn(ctx, next) {
        ctx.hold()
        await next()
        ctx.output = ctx.output!.replace('secret', '***')
      },
    }
    const run = await turn(['a secret'], [layer])
    agree(run, 'a ***')
    expect(run.all).toBe('a ***')
  })

  it('hold goes on where an inner layer that asked for a hold answers without next()', async () => {
    const outer: Middleware = {
      name: 'outer',
      async turn(ctx, next) {
        ctx.hold()
        await next()
        ctx.output = 'from outer'
      },
    }
    const inner: Middleware = {
      name: 'inner',
      turn(ctx) {
        ctx.hold()
        ctx.output = 'from inner'
      },
    }
    const run = await turn(['never asked'], [outer, inner])
    agree(run, 'from outer')
    expect(run.all).toBe('from outer')
  })

  it('an output that only adds is streamed; another one fails and names the layer', async () => {
    const set = (change: (text: string) => string): Middleware => ({
      name: 'setter',
      async turn(ctx, next) {
        await next()
        ctx.output = change(ctx.output!)
      },
    })
    agree(await turn(['so'], [set((text) => `${text}!`)]), 'so!')
    const { error, shown } = await turn(['so'], [set(() => 'other')])
    expect(error).toMatchObject({ code: 'stream.mismatch', details: { layer: 'setter', scope: 'turn' } })
    expect(shown).toBe('so')
  })

  it('what an inner turn layer adds passes the outer turn layers', async () => {
    const outer: Middleware = {
      name: 'outer',
      turn(ctx, next) {
        ctx.onChunk(mapText((text) => text.toUpperCase()))
        return next()
      },
    }
    const inner: Middleware = {
      name: 'inner',
      async turn(ctx, next) {
        await next()
        ctx.output += ' more'
      },
    }
    agree(await turn([{ chunks: ['so'] }], [outer, inner]), 'SO MORE')
  })

  it('what is added where a layer took the tool calls out passes the pipes outside', async () => {
    const outer: Middleware = {
      name: 'outer',
      turn(ctx, next) {
        ctx.pipe((chunks) => chunks)
        return next()
      },
    }
    const toolless: Middleware = {
      name: 'toolless',
      async turn(ctx, next) {
        ctx.onChunk(({ type }) => (type.startsWith('tool-') ? null : undefined))
        await next()
        ctx.output += ', alone'
      },
    }
    agree(await turn([{ ...(oneCall[0] as object), text: 'so' }], [outer, toolless]), 'so, alone')
  })

  it('an own answer takes back the answer whose tool calls a layer took out before it failed', async () => {
    const outer: Middleware = {
      name: 'outer',
      turn(ctx, next) {
        ctx.onChunk(mapText((text) => text.toUpperCase()))
        return next()
      },
    }
    const giver: Middleware = {
      name: 'giver',
      async turn(ctx, next) {
        await next().catch(() => {})
        ctx.output = 'sorry'
      },
    }
    const fails: Middleware = {
      name: 'fails',
      async turn(ctx, next) {
        ctx.onChunk(({ type }) => (type.startsWith('tool-') ? null : undefined))
        await next()
        throw new Error('late')
      },
    }
    agree(await turn([{ ...(oneCall[0] as object), text: 'so' }], [outer, giver, fails]), 'SORRY')
  })
})

describe('tool input chunks', () => {
  const start: ContentChunk = { type: 'tool-input-start', callId: 'x', name: 'work' }
  const spoil = (name: string, change: (chunk: ContentChunk) => ContentChunk | ContentChunk[] | null | undefined) =>
    stream(name, (ctx) => ctx.onChunk(change))
  it.each<[string, (chunk: ContentChunk) => ContentChunk | ContentChunk[] | null | undefined]>([
    ['drops a start', ({ type }) => (type === 'tool-input-start' ? null : undefined)],
    ['drops an end', ({ type }) => (type === 'tool-input-end' ? null : undefined)],
    ['repeats a start', (chunk) => (chunk.type === 'tool-input-start' ? [chunk, chunk] : undefined)],
    [
      'sends a delta after the end',
      (chunk) =>
        chunk.type === 'tool-input-end'
          ? [chunk, { type: 'tool-input-delta', callId: chunk.callId, delta: '1' }]
          : undefined,
    ],
    ['begins a call of its own without end', (chunk) => (chunk.type === 'tool-input-end' ? [chunk, start] : undefined)],
  ])('of a layer that %s are an error that names it', async (_, change) => {
    const { error } = await turn(
      [{ toolCalls: [{ name: 'work', args: { a: 1 } }] }],
      [upper, spoil('spoiler', change)],
      { tools: [tool('work')] },
    )
    expect(error).toMatchObject({ code: 'stream.tool_order', message: expect.stringContaining('"spoiler"') })
  })

  it('in a wrong order from the model itself are an error that names the model', async () => {
    for (const chunks of [
      [{ ...start, type: 'tool-input-delta', delta: '{' }],
      [start, start],
      [start],
    ] as ModelChunk[][])
      expect((await turn([{ chunks }], [], { tools: [tool('work')] })).error).toMatchObject({
        code: 'stream.tool_order',
        message: expect.stringContaining('scripted/model'),
      })
  })

  it('of two calls may interleave', async () => {
    const chunks: ModelChunk[] = [
      start,
      { ...start, callId: 'y' },
      { type: 'tool-input-delta', callId: 'x', delta: '{"n":' },
      { type: 'tool-input-delta', callId: 'y', delta: '{}' },
      { type: 'tool-input-end', callId: 'y' },
      { type: 'tool-input-delta', callId: 'x', delta: '1}' },
      { type: 'tool-input-end', callId: 'x' },
    ]
    const ran: unknown[] = []
    await turn([{ chunks, finishReason: 'tool-calls' }, 'done'], [], {
      tools: [tool('work', (args) => ran.push(args))],
    })
    expect(ran).toEqual([{ n: 1 }, {}])
  })

  it('may be rewritten by a layer: the tool gets the new arguments, and the history has them', async () => {
    const ran: unknown[] = []
    const rename = spoil('rename', (chunk) =>
      chunk.type === 'tool-input-delta' ? { ...chunk, delta: chunk.delta.replace('1', '2') } : undefined,
    )
    const { session } = await turn([{ toolCalls: [{ name: 'work', args: { n: 1 } }] }, 'done'], [rename], {
      tools: [tool('work', (args) => ran.push(args))],
    })
    expect(ran).toEqual([{ n: 2 }])
    expect(JSON.stringify(session.history)).toContain('{"n":2}')
  })
})
