import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ScriptedStep } from '../../testing/src/index.ts'
import type { Middleware } from '../src/index.ts'
import { brokenArgs, oddArgs, reservedArgs } from './hostile.ts'
import { build, oneCall, only, parts, results, tool, traffic, turn, types } from './kit.ts'

/** One call with the given argument text; gives what ran and what the model was told. */
async function called(
  args: string | Record<string, unknown>,
  options: { schema?: z.ZodType; layers?: Middleware[]; name?: string; finishReason?: 'length' } = {},
) {
  const ran: unknown[] = []
  const { schema, layers = [], name = 'work', finishReason } = options
  const step = { toolCalls: [{ name, args, callId: 'c1' }], ...(finishReason && { finishReason }) }
  const more = schema === undefined ? {} : { schema, jsonSchema: undefined as never }
  const { model, result, session, error } = await turn([step, 'done'], layers, {
    tools: [
      tool(
        'work',
        (args) => {
          ran.push(args)
          return 'worked'
        },
        more,
      ),
    ],
  })
  return { ran, told: results(model.requests[1]?.messages ?? []).c1, result, session, error }
}

describe('tool arguments', () => {
  it.each([
    [
      'a long text beside an id',
      `{"text":"${'x'.repeat(16_000_000)}","id":12345678901234567890}`,
      /"id" is the number/,
    ],
    ['a long name', `{"${'x'.repeat(16_000_000)}":12345678901234567890}`, /is the number 12345678901234567890/],
    [
      'quotes in a text before an id',
      JSON.stringify({ text: '\\"\\' }).replace('}', ',"id":12345678901234567890}'),
      /"id" is the number/,
    ],
    ['a long number', `{"id":${'1'.repeat(16_000_000)}}`, /"id" is the number/],
  ])('with a number that would be rounded are a soft error: %s', async (_, args, said) => {
    const { ran, told } = await called(args)
    expect([ran, told]).toEqual([[], expect.stringMatching(said)])
  })

  it('run with digits in a text of 16 MB', async () => {
    const text = '1'.repeat(16_000_000)
    expect((await called(JSON.stringify({ text }))).ran).toEqual([{ text }])
  })

  it.each(brokenArgs)(
    '%j is a soft error: the tool does not run, the model is told, the turn goes on',
    async (args) => {
      const { ran, told, result, session } = await called(args)
      expect([ran, result?.status, result?.toolCalls[0]?.result.status]).toEqual([[], 'completed', 'error'])
      expect(told).toMatch(/argument/i)
      expect(traffic(session.history)).toEqual({ calls: ['c1'], results: ['c1'] })
    },
  )

  it.each(oddArgs)('%j is an object like any other', async (args) => {
    const { ran } = await called(args)
    expect(ran).toEqual([args.trim() === '' ? {} : JSON.parse(args)])
  })

  it.each([
    ['{"id":9007199254740993}', '"id" is the number 9007199254740993,'],
    ['{"order":{"lines":[{"id":-123456789012345678}]}}', '"order.lines.0.id" is the number -123456789012345678,'],
    ['{"say":"9007199254740993, \\"quoted\\"","n":1e400}', '"n" is the number 1e400,'],
    [`{"n":${'9'.repeat(500)}}`, '"n" is the number 9999'],
  ])('%s is refused, by the name of the argument: the number would become another one', async (args, name) => {
    const { ran, told, result } = await called(args)
    expect([ran, result?.status]).toEqual([[], 'completed'])
    expect(told).toContain(name)
    expect(told).toContain('Send it as a string')
    expect(String(told).length).toBeLessThan(400)
  })

  it.each(reservedArgs)('%s is refused and pollutes nothing', async (args) => {
    const { ran, told, result } = await called(args)
    expect([ran, result?.status]).toEqual([[], 'completed'])
    expect(told).toMatch(/not allowed/)
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  it('nested 200,000 deep end in a soft error or run, and never in a crash', async () => {
    const { result } = await called(`{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`)
    expect(result?.status).toBe('completed')
  })

  it('nested 5,000 deep do not overflow the stack in any later turn', async () => {
    const { result, session } = await called(`{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`)
    expect(result?.status).toBe('completed')
    expect(() => session.snapshot()).not.toThrow()
  })

  it('that do not fit the schema are told with their issues, and the tool does not run', async () => {
    const schema = z.object({ email: z.email(), age: z.number() })
    const { ran, told } = await called({ email: 'nobody', age: '7' }, { schema })
    expect(ran).toEqual([])
    expect(told).toMatch(/email.*age/s)
  })

  it('reach execute as the schema makes them, once, and history as the model sent them', async () => {
    let parses = 0
    const schema = z.object({
      n: z.string().transform((text) => {
        parses++
        return Number(text)
      }),
      flag: z.boolean().default(true),
    })
    const { ran, session } = await called({ n: '7' }, { schema })
    expect([ran, parses]).toEqual([[{ n: 7, flag: true }], 1])
    expect(JSON.stringify(session.history)).toContain('{"n":"7"}')
  })

  it('whose schema throws are refused; what it threw is on the result, and the model is not told', async () => {
    const boom = new Error('password=hunter2')
    const schema = z.object({}).transform(() => {
      throw boom
    })
    const { told, result } = await called({}, { schema })
    expect(told).toBe('The arguments could not be checked.')
    expect(result?.toolCalls[0]?.result.error).toBe(boom)
  })

  it('that are cut are said to be; others that are no object only what they are', async () => {
    expect((await called('{"n":')).told).toMatch(/not valid JSON. They may have been truncated. Send/)
    expect((await called('[1]')).told).toMatch(/not a JSON object. Send/)
  })

  it('are checked again after modifyArgs', async () => {
    const schema = z.object({ n: z.number() })
    const spoil: Middleware = {
      name: 'spoiler',
      tool(ctx, next) {
        ctx.modifyArgs({ n: 'text' })
        return next()
      },
    }
    const { ran, told } = await called({ n: 1 }, { schema, layers: [spoil] })
    expect(ran).toEqual([])
    expect(told).toMatch(/n:/)
  })

  it('that are invalid may be mended by a layer, which sees the issues', async () => {
    const schema = z.object({ n: z.number() })
    const seen: unknown[] = []
    const mender: Middleware = {
      name: 'mender',
      tool(ctx, next) {
        seen.push(ctx.invalid?.length, { ...ctx.args })
        ctx.modifyArgs({ n: 5 })
        seen.push(ctx.invalid)
        return next()
      },
    }
    const { ran } = await called('{"n":', { schema, layers: [mender] })
    expect([seen, ran]).toEqual([[1, {}, undefined], [{ n: 5 }]])
  })

  it('merge an object and are replaced by a function', async () => {
    const merge: Middleware = {
      name: 'merge',
      tool(ctx, next) {
        ctx.modifyArgs({ b: 2 })
        return next()
      },
    }
    const replace: Middleware = {
      name: 'replace',
      tool(ctx, next) {
        ctx.modifyArgs((old: object) => ({ keys: Object.keys(old) }))
        return next()
      },
    }
    expect((await called({ a: 1 }, { layers: [merge] })).ran).toEqual([{ a: 1, b: 2 }])
    expect((await called({ a: 1 }, { layers: [merge, replace] })).ran).toEqual([{ keys: ['a', 'b'] }])
  })

  it('of modifyArgs with a reserved key are refused like those of a model', async () => {
    const evil: Middleware = {
      name: 'evil',
      tool(ctx, next) {
        ctx.modifyArgs(() => JSON.parse('{"__proto__":{"polluted":1}}'))
        return next()
      },
    }
    const { ran, told } = await called({}, { layers: [evil] })
    expect([ran, ({} as Record<string, unknown>).polluted]).toEqual([[], undefined])
    expect(told).toMatch(/not allowed/)
  })

  it('changed in place by a layer reach the tool, and not the history', async () => {
    const changer: Middleware = {
      name: 'changer',
      tool(ctx, next) {
        ctx.args.to = ctx.args.to.toLowerCase()
        return next()
      },
    }
    const { ran, session } = await called({ to: 'ADA' }, { layers: [changer] })
    expect(ran).toEqual([{ to: 'ada' }])
    expect(JSON.stringify(session.history)).toContain('ADA')
  })

  it('are a copy for each tool: what one changes, another and the history do not see', async () => {
    const ran: unknown[] = []
    const greedy = tool('work', (args) => {
      ran.push(structuredClone(args))
      args.list.push('mine')
      args.added = 1
    })
    const call = { name: 'work', args: { list: [] } }
    const { session } = await turn([{ toolCalls: [call, call] }, 'done'], [], { tools: [greedy] })
    expect(ran).toEqual([{ list: [] }, { list: [] }])
    expect(JSON.stringify(session.history)).not.toContain('mine')
  })

  it('for a tool that does not exist are a soft error that names those that do', async () => {
    for (const name of ['', 'unknown', '__proto__', 'toString', 'x'.repeat(10_000)]) {
      const { told, result } = await called({}, { name })
      expect(told).toContain('work')
      expect(told!.length).toBeLessThan(500)
      expect([result?.status, result?.toolCalls[0]?.result.status]).toEqual(['completed', 'error'])
    }
  })

  it('for an unknown tool still pass the tool onion, so that guards and audit see them', async () => {
    const seen: unknown[] = []
    const audit: Middleware = {
      name: 'audit',
      async tool(ctx, next) {
        const result = await next()
        seen.push(ctx.tool.name, result.status)
        return result
      },
    }
    await called({}, { name: 'unknown', layers: [audit] })
    await called('{', { layers: [audit] })
    expect(seen).toEqual(['unknown', 'error', 'work', 'error'])
  })

  it('cut by the length limit are told as truncated', async () => {
    expect((await called('{"a":', { finishReason: 'length' })).told).toMatch(/truncated/)
    expect((await called('', { finishReason: 'length' })).told).toMatch(/truncated/)
    expect((await called('{"a":1}', { finishReason: 'length' })).ran).toEqual([{ a: 1 }])
  })

  it('meet a schema that throws, or is asynchronous, without harm', async () => {
    const throwing = z.object({}).transform(() => {
      throw new Error('SECRET-TOKEN in the schema')
    })
    const { result, told } = await called({}, { schema: throwing as never })
    expect([result?.status, result?.toolCalls[0]?.result.status]).toEqual(['completed', 'error'])
    expect(told).not.toContain('SECRET-TOKEN')
    const later = z.object({ n: z.number() }).refine(async ({ n }) => n > 0)
    expect((await called({ n: 1 }, { schema: later })).ran).toEqual([{ n: 1 }])
    expect((await called({ n: -1 }, { schema: later })).ran).toEqual([])
  })

  it('are checked against raw JSON Schema where the agent has a validator', async () => {
    const asked: unknown[] = []
    const validate = (schema: object, value: unknown) => {
      asked.push([schema, value])
      return [{ message: 'wrong', path: ['a'] }]
    }
    const { result } = await turn(oneCall, [], { tools: [tool('work')], validate })
    expect(result?.toolCalls[0]?.result).toMatchObject({
      status: 'error',
      content: expect.stringContaining('a: wrong'),
    })
    expect(asked[0]).toEqual([{ type: 'object' }, {}])
  })
})

describe('the arguments that readers see', () => {
  const to = (n: number, more: Partial<Middleware> = {}): Middleware => ({
    name: `to ${n}`,
    tool(ctx, next) {
      ctx.modifyArgs({ n })
      return next()
    },
    ...more,
  })
  const start = (events: readonly { type: string }[]) => only(events, 'tool:start').map(({ args }) => args)
  const call: ScriptedStep[] = [{ toolCalls: [{ name: 'work', callId: 'c1', args: { n: 1 } }] }, 'done']

  it('are those that run, after the layers around the tool have changed them', async () => {
    const { events, result, session } = await turn(call, [to(2), to(3)], { tools: [tool('work', ({ n }) => n)] })
    expect([start(events), result?.toolCalls[0]?.args, results(session.history)]).toEqual([
      [{ n: 3 }],
      { n: 3 },
      { c1: '3' },
    ])
    expect(parts(session.history)[0]).toMatchObject({ args: { n: 1 } })
  })

  it('are those before a change that its layer does not show', async () => {
    const restores: Middleware = {
      name: 'restores',
      async tool(ctx, next) {
        ctx.modifyArgs({ n: 7 }, { show: false })
        return next()
      },
    }
    const { events, result, session } = await turn(call, [to(2), restores, to(9)], {
      tools: [tool('work', ({ n }) => n)],
    })
    expect([start(events), result?.toolCalls[0]?.args, results(session.history)]).toEqual([
      [{ n: 2 }],
      { n: 2 },
      { c1: '9' },
    ])
  })

  it('come with one start and one end for a call that is retried, denied or answered by a layer', async () => {
    const retries: Middleware = { name: 'retries', tool: (_, next) => next().then(() => next()) }
    const denies: Middleware = { name: 'denies', tool: (ctx) => ctx.deny('no') }
    const answers: Middleware = { name: 'answers', tool: (ctx) => ctx.skipCall('cached') }
    for (const layer of [retries, denies, answers]) {
      const { events } = await turn(call, [layer], { tools: [tool('work')] })
      const told = types(events).filter((type) => type.startsWith('tool:'))
      expect([told, start(events)]).toEqual([['tool:start', 'tool:end'], [{ n: 1 }]])
    }
  })
})

describe('tools at registration', () => {
  it.each([
    ['twice', [tool('a'), tool('a')], 'tool.duplicate'],
    ['without a description', [{ ...tool('a'), description: undefined }], 'tool.invalid'],
    ['without execute', [{ ...tool('a'), execute: undefined }], 'tool.invalid'],
    ['without a schema', [{ ...tool('a'), jsonSchema: undefined }], 'tool.invalid'],
    ['without a name', [{ ...tool(''), name: '' }], 'tool.invalid'],
    ['null', [null], 'tool.invalid'],
  ])('are refused: %s', (_, tools, code) => {
    expect(() => build([], [], { tools: tools as never })).toThrow(expect.objectContaining({ code }))
  })

  it('tell the model the JSON Schema of a Standard Schema', async () => {
    const schema = z.object({ n: z.number().describe('how many') })
    const { model } = await turn(['ok'], [], {
      tools: [tool('work', undefined, { schema, jsonSchema: undefined as never })],
    })
    expect(model.requests[0]?.tools[0]?.jsonSchema).toMatchObject({
      type: 'object',
      properties: { n: { type: 'number', description: 'how many' } },
      required: ['n'],
    })
  })
})
