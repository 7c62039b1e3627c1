import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scriptedModel } from '../../testing/src/index.ts'
import { Agent, AlliumError, defineMiddleware } from '../src/index.ts'
import { oddThrows, unwritable } from './hostile.ts'

const circular: Record<string, unknown> = { name: 'ring' }
circular.self = { back: circular }
const silent = { warn() {}, error() {} }

/** A run of an agent whose one tool does that. */
function ran(execute: () => unknown, more: Partial<ConstructorParameters<typeof Agent>[0]> = {}) {
  const tool = { name: 'work', description: 'Works.', jsonSchema: { type: 'object' }, execute }
  const model = scriptedModel([{ toolCalls: [{ name: 'work' }] }, 'done'])
  return new Agent({ model, tools: [tool], logger: silent, ...more }).run('go')
}
const jsonOf = (value: unknown) => JSON.parse(JSON.stringify(value))
const valueIn = async (value: unknown) => jsonOf(await ran(() => value)).toolCalls[0].result.value

describe('the JSON of a result', () => {
  class Point {
    #secret = 'SECRET-TOKEN'
    constructor(public x: number) {}
    get hidden() {
      return this.#secret
    }
  }
  it.each<[string, unknown, unknown]>([
    ['a BigInt', { n: 5n }, { n: '5' }],
    ['a Date', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
    ['a Date that is none', new Date(Number.NaN), null],
    ['a Map', new Map<unknown, unknown>([['a', 1n]]), [['a', '1']]],
    ['a Set', new Set([1, 2]), [1, 2]],
    ['bytes', new Uint8Array([104, 105]), 'aGk='],
    ['a Buffer', Buffer.from('hi'), 'aGk='],
    ['an ArrayBuffer', new Uint8Array([104, 105]).buffer, 'aGk='],
    ['numbers that JSON does not have', [Number.NaN, Number.POSITIVE_INFINITY], ['NaN', 'Infinity']],
    ['functions and symbols', { f() {}, s: Symbol('a'), kept: 1, in: [() => 1] }, { kept: 1, in: [null] }],
    ['an instance of a class', new Point(1), { x: 1 }],
    ['a cycle', circular, { name: 'ring', self: { back: '[circular]' } }],
    ['an error', { e: new Error('SECRET-TOKEN') }, { e: { message: 'An error.' } }],
    [
      'an error to be shown',
      new AlliumError('tool.invalid', 'No.', { expose: true }),
      { code: 'tool.invalid', message: 'No.' },
    ],
    [
      'an error with a toJSON',
      Object.assign(new Error('a'), { toJSON: () => 'SECRET-TOKEN' }),
      { message: 'An error.' },
    ],
  ])('has %s in its documented form', async (_, value, json) => {
    expect(await valueIn(value)).toEqual(json)
  })

  it('has the value as the tool returned it in process, and the error of a tool that threw', async () => {
    const value = { at: new Date(0), n: 5n }
    const error = new Error('down')
    expect((await ran(() => value)).toolCalls[0]?.result.value).toBe(value)
    const { toolCalls } = await ran(() => {
      throw error
    })
    expect(toolCalls[0]?.result.error).toBe(error)
  })

  it.each(oddThrows)('shows nothing of what a tool threw: %s', async (_, thrown) => {
    const result = await ran(() => {
      throw thrown
    })
    for (const part of [result, result.toolCalls, { ...result }]) expect(JSON.stringify(part)).not.toContain('SECRET')
    expect(jsonOf(result).toolCalls[0].result).toEqual({
      callId: 'call-1',
      content: 'The tool "work" failed.',
      isError: true,
      status: 'error',
    })
  })

  it.each(unwritable.filter(([name]) => !name.includes('promise')))('survives %s', async (_, make) => {
    const layer = defineMiddleware({
      name: 'gives',
      async tool(_, next) {
        await next()
        return { content: 'x', value: [make()] }
      },
    })
    const tool = { name: 'work', description: 'Works.', jsonSchema: { type: 'object' }, execute: () => 1 }
    const model = scriptedModel([{ toolCalls: [{ name: 'work' }] }, 'done'])
    const result = await new Agent({ model, tools: [tool], logger: silent }).use(layer).run('go')
    expect(JSON.stringify(result)).not.toContain('SECRET')
  })

  it('is bounded where one object stands in many places, and where it is deep', async () => {
    let shared: unknown = ['x']
    for (let i = 0; i < 60; i++) shared = [shared, shared]
    expect(JSON.stringify(await valueIn(shared)).length).toBeLessThan(50_000_000)
    let deep: unknown = 'end'
    for (let i = 0; i < 200_000; i++) deep = { deep }
    expect(JSON.stringify(await valueIn(deep))).toContain('[too deep]')
  })

  it('never throws, whatever a tool returns', async () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withNullPrototype: true,
    })
    await fc.assert(
      fc.asyncProperty(anything, async (value) => {
        const json = JSON.stringify(await ran(() => value))
        expect(JSON.stringify(JSON.parse(json))).toBe(json)
      }),
      { numRuns: 300 },
    )
  })

  it('has state and output that JSON does not have', async () => {
    const layer = defineMiddleware({
      name: 'state',
      state: { 'state:n': { default: 1n }, 'state:at': { default: () => new Date(0) } },
    })
    const result = await new Agent({ model: scriptedModel(['done']) }).use(layer).run('go')
    expect(jsonOf(result).state).toEqual({ 'state:n': '1', 'state:at': '1970-01-01T00:00:00.000Z' })
    expect(Object.keys(result)).not.toContain('toJSON')
  })
})

describe('the JSON of what observers get', () => {
  it('shows nothing of what was thrown, and never throws', async () => {
    const events: object[] = []
    const thrown = Object.assign(new Error('SECRET-TOKEN'), {
      config: { authorization: 'SECRET-TOKEN' },
      n: 1n,
      circular,
    })
    const model = scriptedModel([{ error: thrown }])
    const agent = new Agent({ model, logger: silent })
    for (const name of ['error', 'turn:end', 'model:end'] as const) agent.on(name, (event) => events.push(event))
    const error = await agent.run('go').catch((error: unknown) => error)
    expect(error).toBe(thrown)
    expect(events.map((event) => (event as { error: unknown }).error)).toEqual([thrown, thrown, thrown])
    expect(JSON.stringify(events)).not.toContain('SECRET')
    expect(() => JSON.stringify((error as { partial: object }).partial)).not.toThrow()
  })
})

describe('a tool whose value the model cannot get as it is', () => {
  class Row {
    id = 1
  }
  it.each<[string, unknown]>([
    ['a BigInt at "n"', { n: 5n }],
    ['a Date at "rows.0.at"', { rows: [{ at: new Date(0) }] }],
    ['a Map', new Map()],
    ['a Set', new Set()],
    ['an instance of Row', new Row()],
    ['a cycle at "self.back"', circular],
    ['bytes at "data"', { data: new Uint8Array(3) }],
    ['a function at "f"', { f() {} }],
    ['an Error', new Error('a')],
  ])('is told to the logger, with the place: %s', async (what, value) => {
    const warned: string[] = []
    const logger = { warn: (message: string) => void warned.push(message), error() {} }
    await ran(() => value, { logger })
    expect(warned).toEqual([
      `The tool "work" returned ${what}, which JSON cannot represent, so the model gets something else. Return plain data or a string.`,
    ])
  })

  it.each<[string, string, unknown]>([
    ['an async generator', 'AsyncGenerator', (async function* () {})()],
    ['an iterator', 'Generator at "rows"', { rows: (function* () {})() }],
    ['a response', 'Response', new Response('{"a":1}')],
    ['a stream', 'ReadableStream', new Response('a').body],
    ['a promise inside', 'Promise at "a"', { a: Promise.resolve(1) }],
    [
      'a stream with fields',
      'Rows',
      Object.assign(
        new (class Rows {
          async *[Symbol.asyncIterator]() {}
        })(),
        { size: 1 },
      ),
    ],
  ])('fails where nothing of the value would reach it: %s', async (_, what, value) => {
    const warned: string[] = []
    const logger = { warn: (message: string) => void warned.push(message), error() {} }
    const { toolCalls } = await ran(() => value, { logger })
    expect([toolCalls[0]?.result.status, toolCalls[0]?.result.content]).toEqual(['error', 'The tool "work" failed.'])
    expect(warned).toEqual([
      expect.stringContaining(`returned an instance of ${what}, of which the model would get nothing`),
    ])
  })

  it('is told once, and plain data is not', async () => {
    const warned: string[] = []
    const logger = { warn: (message: string) => void warned.push(message), error() {} }
    await ran(() => [new Date(0), new Date(1), { a: new Date(2) }], { logger })
    await ran(() => ({ a: [1, 'b', null, { c: undefined }], url: new URL('http://a') }), { logger })
    expect(warned).toHaveLength(1)
  })
})
