import type { Middleware } from '@allium/core'
import { leaks, manualClock } from '@allium/testing'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { type LogOptions, log } from '../src/index.ts'
import { log as pinoLog } from '../src/pino.ts'
import { calling, decide, naughty, scene, tool } from './scene.ts'

type Line = Record<string, unknown>

/** A real pino that writes to memory. */
function memoryPino(level = 'debug') {
  const written: string[] = []
  const logger = pino({ level, base: null, timestamp: false }, { write: (line: string) => void written.push(line) })
  return { logger, written, lines: (): Line[] => written.map((line) => JSON.parse(line)) }
}

function logged(
  options: Partial<LogOptions> = {},
  steps = [calling(['look', { id: 7 }]), 'Found.'],
  layers: Middleware[] = [],
) {
  const { logger, written, lines } = memoryPino()
  const made = scene(steps, [log({ logger, ...options }), ...layers], { name: 'desk', tools: [tool('look')] })
  const session = made.agent.session({ id: 's', principal: { tenantId: 'acme', userId: 'ada' } })
  const summary = () => lines().map(({ level, event, msg }) => [level, event, msg])
  return { ...made, session, written, lines, summary }
}

const [debug, info, warn, error] = [20, 30, 40, 50]

describe('observe.log', () => {
  it('logs the beginning and the end of turns and calls', async () => {
    const { session, summary } = logged()
    await session.run('go')
    expect(summary()).toEqual([
      [debug, 'turn:start', 'turn begins'],
      [debug, 'model:start', 'model call begins'],
      [info, 'model:end', 'model call ok'],
      [debug, 'tool:start', 'tool call begins'],
      [info, 'tool:end', 'tool call ok'],
      [debug, 'model:start', 'model call begins'],
      [info, 'model:end', 'model call ok'],
      [info, 'turn:end', 'turn completed'],
    ])
  })

  it('tells who and where in each record, and what the calls came to', async () => {
    const { session, lines } = logged()
    const { turnId } = await session.run('go')
    for (const line of lines())
      expect(line).toMatchObject({ tenant: 'acme', user: 'ada', agent: 'desk', session: 's', turn: turnId })
    expect(lines()[2]).toMatchObject({
      model: 'scripted/model',
      attempt: 1,
      ms: 0,
      calls: ['look'],
      finishReason: 'tool-calls',
    })
    expect(lines()[4]).toMatchObject({ tool: 'look', status: 'ok', ms: 0 })
    expect(lines()[7]).toMatchObject({ status: 'completed', usage: { inputTokens: 20, outputTokens: 10, calls: 2 } })
  })

  it('logs what is said only when it is told to', async () => {
    const quiet = logged()
    await quiet.session.run('secret-input')
    expect(leaks(quiet.written, /secret-input|"id":7|look ran|Found\./)).toEqual([])
    const { session, lines } = logged({ content: true })
    await session.run('secret-input')
    expect(lines()[0]).toMatchObject({ input: ['secret-input'] })
    expect(lines()[3]).toMatchObject({ args: { id: 7 } })
    expect(lines()[4]).toMatchObject({ result: 'look ran' })
    expect(lines()[6]).toMatchObject({ text: 'Found.' })
    expect(lines()[7]).toMatchObject({ output: 'Found.' })
  })

  it('tells trouble at its level: denials, failed tools, blocks', async () => {
    const policy: Middleware = { name: 'policy', tool: (ctx) => ctx.deny('not today') }
    const denied = logged({}, undefined, [policy])
    await denied.session.run('go')
    expect(denied.lines()[4]).toMatchObject({ level: warn, status: 'denied', reason: 'not today' })

    const guard: Middleware = { name: 'guard', model: (ctx) => ctx.block('too spicy') }
    const blocked = logged({}, undefined, [guard])
    await blocked.session.run('go')
    expect(blocked.lines().slice(2)).toMatchObject([
      { level: warn, event: 'model:end', status: 'blocked', reason: 'too spicy' },
      { level: warn, event: 'turn:end', status: 'blocked', reason: 'too spicy' },
    ])
  })

  it('logs what was thrown, with its stack, and throws it on as it is', async () => {
    const thrown = Object.assign(new RangeError('overloaded'), { status: 529 })
    const { session, lines } = logged({}, [thrown])
    await expect(session.run('go')).rejects.toBe(thrown)
    const told = {
      type: 'RangeError',
      message: 'overloaded',
      status: 529,
      stack: expect.stringContaining('log.test.ts'),
    }
    expect(lines().slice(2)).toMatchObject([
      { level: warn, event: 'model:end', status: 'failed', error: told },
      { level: error, event: 'turn:end', status: 'failed', error: told },
    ])
  })

  it.each(['stack', 'status', 'name', 'code', 'reason', 'message'])(
    'passes on an error whose field "%s" cannot be read, and still logs it',
    async (field) => {
      const get = () => {
        throw new Error('unreadable')
      }
      const thrown = Object.defineProperty(new Error('down'), field, { get })
      const { session, lines } = logged({}, [thrown])
      await expect(session.run('go')).rejects.toBe(thrown)
      expect(lines().slice(2)).toMatchObject([{ event: 'model:end', status: 'failed' }, { event: 'turn:end' }])
      const { logger, lines: ofTool } = memoryPino()
      const breaks = tool('breaks', () => Promise.reject(thrown))
      const { agent } = scene([calling(['breaks']), 'ok'], [log({ logger })], { tools: [breaks] })
      expect((await agent.run('go')).status).toBe('completed')
      expect(ofTool()[4]).toMatchObject({ event: 'tool:end', status: 'error' })
    },
  )

  it('logs a tool’s own error, of which the model learns nothing', async () => {
    const { logger, lines } = memoryPino()
    const breaks = tool('breaks', () => {
      throw new Error('disk full')
    })
    await scene([calling(['breaks']), 'ok'], [log({ logger })], { tools: [breaks] }).agent.run('go')
    expect(lines()[4]).toMatchObject({ level: warn, status: 'error', error: { message: 'disk full' } })
  })

  it('keeps a record on its line, whatever is in it', async () => {
    for (const text of naughty) {
      const { session, written } = logged({ content: true }, [calling(['look', { [text]: text }], [text]), text])
      await session.run(text)
      await scene([new Error(text)], [log({ logger: memoryPino().logger })])
        .agent.run('go')
        .settled()
      for (const line of written) expect(line).toMatch(/^\{[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]*\}\n$/u)
      for (const line of written) expect(JSON.stringify(JSON.parse(line))).not.toMatch(/(?<!\\)\\[nru]/)
    }
  })

  it('hides credentials in a Map, in Headers and in the query of a URL', async () => {
    const headers = new Headers({ authorization: 'c2VjcmV0', 'x-trace': '1' })
    const settings = {
      headers,
      map: new Map([['password', 'c2VjcmV0']]),
      url: new URL('https://h/?token=c2VjcmV0&n=1'),
    }
    const { session, lines, written } = logged()
    await session.run('go', { settings: { providerOptions: settings } as never })
    expect(leaks(written, 'c2VjcmV0')).toEqual([])
    expect(JSON.stringify(lines()[1])).toContain('["x-trace","1"]')
  })

  it('hides credentials by their name, and those that it is told of, however deep', async () => {
    const args = {
      url: 'x',
      headers: { Authorization: 'Basic c2VjcmV0', 'X-Api-Key': 'c2VjcmV0' },
      list: [{ ssn: 'c2VjcmV0' }],
    }
    const { session, lines, written } = logged({ content: true, hide: ['SSN'] }, [calling(['look', args]), 'ok'])
    await session.run('go', { settings: { headers: { authorization: 'c2VjcmV0' }, maxOutputTokens: 9 } })
    expect(leaks(written, 'c2VjcmV0')).toEqual([])
    expect(lines()[1]).toMatchObject({ settings: { maxOutputTokens: 9, headers: { authorization: '[hidden]' } } })
    expect(lines()[3]).toMatchObject({ args: { url: 'x', headers: { Authorization: '[hidden]' } } })
  })

  it.each([
    'Incorrect API key provided: sk-proj-abcdefghijklmnop1234',
    'authorization: Bearer abc123.def456ghi789',
    'connect to postgres://app:c2VjcmV0@db/x failed',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc',
  ])('hides what looks like a credential in an error: %s', async (message) => {
    const { session, written } = logged({}, [new Error(message)])
    await session.run('go').settled()
    expect(leaks(written, /abcdefghijklmnop|def456|c2VjcmV0|eyJzdWI/)).toEqual([])
    expect(written.join()).toContain('[hidden]')
  })

  it('cuts long texts and long lists, and takes 1 MB in little time', async () => {
    const args = { text: 'x'.repeat(1e6), list: Array.from({ length: 1e4 }, (_, i) => i), deep: 'Bearer '.repeat(1e5) }
    const { session, lines, written } = logged({ content: true, maxLength: 50 }, [calling(['look', args]), 'ok'])
    await session.run('go')
    expect(lines()[3]?.args).toMatchObject({ text: `${'x'.repeat(49)}…`, list: { length: 100 } })
    expect(Math.max(...written.map((line) => line.length))).toBeLessThan(2000)
  })

  it('logs what cannot be written as JSON', async () => {
    const circular: Record<string, unknown> = { big: 10n, at: new Date(0), bytes: new Uint8Array(3) }
    circular.self = circular
    const changes: Middleware = {
      name: 'changes',
      async tool(_, next) {
        const result = await next()
        return Object.assign(result, { content: [{ type: 'text', text: circular }] as never })
      },
    }
    const { session, lines } = logged({ content: true }, undefined, [changes])
    await session.run('go').settled()
    expect(lines()[4]).toMatchObject({
      result: [{ text: { big: '10', at: '1970-01-01T00:00:00.000Z', bytes: '[3 bytes]', self: '[circular]' } }],
    })
  })

  it('takes other levels, and builds nothing for one that is off', async () => {
    const { session, summary } = logged({ levels: { start: 'info', end: 'debug' } }, ['hi'])
    await session.run('go')
    expect(summary().map(([level]) => level)).toEqual([info, info, debug, debug])
    const { logger, written } = memoryPino('silent')
    await scene(['hi'], [log({ logger })]).agent.run('go')
    expect(written).toEqual([])
  })

  it('logs a run that waits, and the one that goes on', async () => {
    const { logger, lines } = memoryPino('info')
    const pay = tool('pay', undefined, { requireApproval: true })
    const session = scene([calling(['pay']), 'ok'], [log({ logger })], { tools: [pay] }).agent.session()
    const { turnId } = await session.run('go')
    await decide(session, { approve: true })
    expect(lines().map(({ event, status }) => [event, status])).toEqual([
      ...[
        ['model:end', 'ok'],
        ['tool:end', 'suspended'],
        ['turn:end', 'suspended'],
      ],
      ...[
        ['tool:end', 'ok'],
        ['model:end', 'ok'],
        ['turn:end', 'completed'],
      ],
    ])
    expect(
      lines()
        .slice(3)
        .every(({ root }) => root === turnId),
    ).toBe(true)
  })

  it.each<[string, () => unknown]>([
    ['throws', () => expect.fail('broken pipe')],
    ['rejects', () => Promise.reject(new Error('broken pipe'))],
    ['never answers', () => new Promise(() => {})],
  ])('lets the run through where the logger %s', async (_, write) => {
    const logger = { debug: write, info: write, warn: write, error: write }
    const { text } = await scene(['hi'], [log({ logger })], { clock: { ...manualClock() } }).agent.run('go')
    expect(text).toBe('hi')
  })

  it('streams as if it were not there, and stands under another name', async () => {
    const deltas: unknown[] = []
    const { session } = logged({}, ['a b c'])
    for await (const event of session.run('go')) if (event.type === 'text-delta') deltas.push(event.delta)
    expect(deltas).toEqual(['a', ' b', ' c'])
    expect(log({ logger: memoryPino().logger, as: 'mine' }).name).toBe('mine')
  })
})

describe('@allium/observe/pino', () => {
  it('logs with pino, given or its own', async () => {
    const { logger, lines } = memoryPino('info')
    await scene(['hi'], [pinoLog({ logger, content: true })]).agent.run('go')
    expect(lines().at(-1)).toMatchObject({ msg: 'turn completed', output: 'hi' })
    expect(pinoLog().name).toBe('observe:log')
  })
})
