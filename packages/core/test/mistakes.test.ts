import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type AgentOptions, type Middleware, type RunOptions, toolResult } from '../src/index.ts'
import { build, oneCall, tool } from './kit.ts'

const made = (options: object) => () => build(['hi'], [], options as Partial<AgentOptions>)
const refusal = (code: string, ...parts: string[]) =>
  expect.objectContaining({ code, message: expect.stringMatching(new RegExp(parts.map(escaped).join('.*'), 's')) })
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

it('use() tells that it was given a promise of a layer', () => {
  const { agent } = build(['hi'])
  expect(() => agent.use(Promise.resolve({ name: 'a' }) as never)).toThrow('a promise (await it first)')
})

it.each([
  ['a hook named as in other frameworks', { onTurn() {} }, ['"onTurn"', 'Did you mean "turn"?']],
  ['tools that are no list', { tools: () => [] }, ['tools', '"mine"', 'Pass a list']],
])('use() names %s', (_, layer, parts) => {
  const { agent } = build(['hi'])
  expect(() => agent.use({ name: 'mine', ...layer } as never)).toThrow(refusal('layer.invalid', ...parts))
})

describe('a function whose body never runs, because it is a generator', () => {
  it.each(['agent', 'session', 'turn', 'model', 'tool'] as const)('fails the run as a %s hook', async (scope) => {
    const { agent } = build(oneCall, [{ name: 'mine', *[scope]() {} } as never], { tools: [tool('work')] })
    await expect(agent.run('hi')).rejects.toMatchObject({ code: expect.stringMatching(/^layer\.(no_next|result)$/) })
  })

  it('fails the call of a tool', async () => {
    const { agent, log } = build(oneCall, [], { tools: [tool('work', async function* () {})] })
    expect((await agent.run('hi')).toolCalls[0]?.result.status).toBe('error')
    expect(log[0]?.message).toContain('AsyncGenerator')
  })
})

it.each([
  ['a generator', (function* () {})()],
  ['a stream', new ReadableStream()],
  ['an empty object of a class', new (class Answer {})()],
])('a model layer that returns %s is told, in place of an empty answer', async (_, response) => {
  const { agent } = build(['hi'], [{ name: 'mine', model: () => response as never }])
  await expect(agent.run('hi')).rejects.toThrow(refusal('layer.result', '"mine"', 'as its response'))
})

describe('new Agent() tells of mistakes', () => {
  const weather = { description: 'Weather', inputSchema: z.object({}), execute: () => 'sunny' }

  it.each([
    ['an unknown option', { maxStep: 3 }, ['maxStep', 'Did you mean "maxSteps"?']],
    ['tools that are no list', { tools: { work: tool('work') } }, ['tools', 'list', 'tools: [work]']],
    ['a context that is no schema', { context: { user: z.string() } }, ['context', 'z.object({ user: … })']],
    [
      'an embedding model',
      { model: { modelId: 'embed', doEmbed() {} } },
      ['"embed" was given, which is no language model'],
    ],
    [
      'an image model',
      { model: { modelId: 'draw', doGenerate() {} } },
      ['"draw" was given, which is no language model'],
    ],
    ['a promise of a model', { model: Promise.resolve({}) }, ['a promise (await it first)']],
    ['a schema of zod 3', { principal: { _def: { typeName: 'ZodObject' }, parse() {} } }, ['zod 3', 'update zod']],
    ['a principal that is no schema', { principal: {} }, ['principal', 'Standard Schema']],
  ])('%s', (_, options, parts) => {
    expect(made(options)).toThrow(refusal('agent.options', ...parts))
  })

  it.each([
    [
      'a plain object of schemas',
      { ...tool('work'), jsonSchema: undefined, schema: { a: z.string() } },
      ['z.object({ a: … })'],
    ],
    ['a schema of a text', { ...tool('work'), jsonSchema: undefined, schema: z.string() }, ['"string"', 'an object']],
    ['a JSON Schema of a list', tool('work', () => '', { jsonSchema: { type: 'array' } }), ['"array"', 'an object']],
    ['a tool of the AI SDK', weather, ['AI SDK', 'inputSchema']],
  ])('in a tool: %s', (_, wrong, parts) => {
    expect(made({ tools: [wrong] })).toThrow(refusal('tool.invalid', ...parts))
  })

  it('a schema that AI SDK wraps', () => {
    const wrong = {
      ...tool('work'),
      jsonSchema: undefined,
      schema: { jsonSchema: { type: 'object' }, validate: () => {} },
    }
    expect(made({ tools: [wrong] })).toThrow(refusal('tool.invalid', 'jsonSchema: schema.jsonSchema'))
  })
})

describe('a run and a session tell of mistakes', () => {
  it.each([
    ['an unknown option', { maxStep: 3 }, ['run.options', 'maxStep', 'Did you mean "maxSteps"?']],
    ['an option of sessions', { principal: {} }, ['run.options', 'principal', 'agent.session(']],
    ['an output that is no schema', { output: { city: z.string() } }, ['run.options', 'z.object({ city: … })']],
  ])('%s', async (_, options, [code = '', ...parts]) => {
    const { agent } = build(['hi'])
    await expect(agent.session().run('go', options as RunOptions)).rejects.toEqual(refusal(code, ...parts))
  })

  it('at agent.run() too, whose session takes its own', async () => {
    const { agent } = build(['hi'])
    await expect(agent.run('go', { sesion: {} } as never)).rejects.toEqual(
      refusal('run.options', 'Did you mean "session"?'),
    )
    expect(() => agent.session({ principle: {} } as never)).toThrow(refusal('run.options', 'Did you mean "principal"?'))
  })

  it.each([
    ['a UI message', { role: 'user', parts: [{ type: 'text', text: 'hi' }] }, ['AI SDK', 'content']],
    [
      'a part of the AI SDK',
      { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'work', input: {} }] },
      ['toolCallId', 'callId'],
    ],
  ])('a message that is not one of ours: %s', async (_, message, parts) => {
    await expect(build(['hi']).agent.run([message] as never)).rejects.toEqual(refusal('message.invalid', ...parts))
  })
})

describe('ctx.emit() tells of mistakes', () => {
  it.each([
    ['stock:low', 'stock:low'],
    [{ name: 'x' }, 'type'],
  ] as const)('%j', async (event, part) => {
    const layer: Middleware = {
      name: 'tells',
      turn(ctx, next) {
        const emit = ctx.emit.bind(ctx) as (...args: unknown[]) => void
        emit(event, { left: 3 })
        return next()
      },
    }
    const run = build(['hi'], [layer]).agent.run('go')
    await expect(run).rejects.toEqual(
      refusal('layer.invalid', '"tells"', "ctx.emit({ type: '", part === 'type' ? '' : part),
    )
  })

  it('in a tool the model is told nothing of it, and the log all', async () => {
    const work = tool('work', (_, ctx) => {
      ctx.emit('stock:low' as never)
      return toolResult({ content: 'never' })
    })
    const { agent, log } = build(oneCall, [], { tools: [work] })
    expect((await agent.run('go')).toolCalls[0]?.result.content).toBe('The tool "work" failed.')
    expect(log[0]?.message).toContain("ctx.emit({ type: 'stock:low'")
  })
})

describe('what an abort says', () => {
  it('is said once', async () => {
    const run = build([{ stall: true }]).agent.run('go', { signal: AbortSignal.abort() })
    await expect(run).rejects.toMatchObject({ message: 'The run was aborted by its signal.' })
  })
})
