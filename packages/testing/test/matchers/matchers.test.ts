import {
  Agent,
  defineMiddleware,
  type Message,
  type Middleware,
  type StreamEvent,
  type ToolCallPart,
  type ToolResultPart,
} from '@allium/core'
import { describe, expect, it } from 'vitest'
import { runLayer, type ScriptedStep, scriptedModel, traceLayer } from '../../src/index.ts'
import '../../src/vitest.ts'

const find = { name: 'find_invoice', description: 'Finds', jsonSchema: { type: 'object' }, execute: () => 'I-7' }
const refund = { name: 'refund', description: 'Refunds', jsonSchema: { type: 'object' }, execute: () => 'done' }
const twoCalls: ScriptedStep[] = [
  { toolCalls: [{ name: 'find_invoice', args: { number: 'I-7' } }] },
  { toolCalls: [{ name: 'refund', args: { amount: 900, to: { name: 'Ada', iban: 'DE1' } } }] },
  'Done.',
]

/** A run with two tool calls: its events, its result, and what stays of it. */
async function refunded(...layers: Middleware[]) {
  const model = scriptedModel(twoCalls)
  const session = new Agent({ model, tools: [find, refund] }).use(layers).session()
  const run = session.run('Refund me')
  const events: StreamEvent[] = []
  for await (const event of run) events.push(event as StreamEvent)
  return { model, session, events, result: await run }
}

describe('toHaveCalledTool', () => {
  it('passes for a result, its events, its history and what runLayer gave', async () => {
    const { result, events, session } = await refunded()
    for (const source of [result, events, session.history, session, { events }])
      expect(source).toHaveCalledTool('refund', { amount: 900 })
    const noop: Middleware = { name: 'noop', tool: (_, next) => next() }
    const run = await runLayer(noop, { scope: 'tool', args: { a: 1 } })
    expect(run).toHaveCalledTool('work', { a: 1 })
  })

  it('compares only the arguments that are named, deep, with patterns and asymmetric matchers', async () => {
    const { result } = await refunded()
    expect(result).toHaveCalledTool('refund', { to: { name: /^A/ }, amount: expect.any(Number) })
    expect(result).toHaveCalledTool('refund', expect.objectContaining({ amount: 900 }))
    expect(result).not.toHaveCalledTool('refund', { to: { name: 'Bo' } })
    expect(result).not.toHaveCalledTool('refund', { reason: 'late' })
  })

  it('counts a call that was denied, and says so', async () => {
    const policy = defineMiddleware({ name: 'policy', tool: (ctx) => ctx.deny('No.') })
    const { result, events } = await refunded(policy)
    expect(result).toHaveCalledTool('refund')
    expect(() => expect(events).not.toHaveCalledTool('refund')).toThrow(/2\. refund\(.*\) denied/)
  })

  it('tells the calls, and which arguments differ', async () => {
    const { result } = await refunded()
    expect(() => expect(result).toHaveCalledTool('refund', { amount: 50, to: { name: 'Ada' } })).toThrow(
      `Expected a call of the tool refund with {"amount":50,"to":{"name":"Ada"}}.

Calls (2):
  1. find_invoice({"number":"I-7"}) ok
  2. refund({"amount":900,"to":{"name":"Ada","iban":"DE1"}}) ok

The tool was called, but with other arguments: look at amount. Fields that you do not name may be anything.`,
    )
  })

  it('guesses the name that was meant, and tells that there was no call at all', async () => {
    const { result } = await refunded()
    expect(() => expect(result).toHaveCalledTool('findInvoice')).toThrow('Is it "find_invoice" that you mean?')
    expect(() => expect([]).toHaveCalledTool('x')).toThrow(/Calls: none\n\nThe model called no tool/)
  })

  it('tells that a run must be awaited first', async () => {
    const run = new Agent({ model: scriptedModel(['Hi']) }).run('Hi')
    expect(() => expect(run).toHaveCalledTool('x')).toThrow('a run or a promise: await it')
    await run
  })
})

describe('toHaveCalledTools', () => {
  it('takes these calls in this order and no others', async () => {
    const { result, events } = await refunded()
    expect(result).toHaveCalledTools(['find_invoice', 'refund'])
    expect(events).not.toHaveCalledTools(['find_invoice'])
    expect(() => expect(result).toHaveCalledTools(['refund', 'find_invoice'])).toThrow('the same, in another order')
    expect(() => expect(result).toHaveCalledTools(['refund', 'pay'])).toThrow(
      'Missing: pay. Not expected: find_invoice.',
    )
  })
})

describe('toHaveStreamed', () => {
  const again: Middleware = {
    name: 'again',
    async model(_, next) {
      return next().catch(() => next())
    },
  }

  it('reads what the reader is left with: what a new attempt took back does not count', async () => {
    const run = await runLayer(again, { scope: 'model', steps: [{ text: 'Half an', cut: true }, 'Hello there.'] })
    expect(run).toHaveStreamed('Hello there.')
    expect(run.events).toHaveStreamed(/^Hello there\.$/)
    expect(() => expect(run.events).toHaveStreamed('Half')).toThrow(
      'Streamed: "Hello there."\n\nIt was streamed, and taken back by a model:reset',
    )
  })

  it('joins the texts of all steps', async () => {
    const model = scriptedModel([{ text: 'One. ', toolCalls: [{ name: 'refund' }] }, 'Two.'])
    const events: StreamEvent[] = []
    for await (const event of new Agent({ model, tools: [refund] }).run('Hi')) events.push(event as StreamEvent)
    expect(events).toHaveStreamed('One. Two.')
  })
})

describe('toHaveEnded', () => {
  it('passes for a result, events, what runLayer gave, and the error of a run', async () => {
    const blocks: Middleware = { name: 'blocks', turn: (ctx) => ctx.block('not today') }
    const run = await runLayer(blocks, { scope: 'turn' })
    for (const source of [run, run.result, run.events]) expect(source).toHaveEnded('blocked', 'not today')
    expect(run).toHaveEnded('blocked', /today/)
    expect(run).not.toHaveEnded('blocked', 'not')
    const failed = await new Agent({ model: scriptedModel([new Error('down')]) }).run('Hi').catch((error) => error)
    expect(failed).toHaveEnded('failed', 'down')
  })

  it('tells how it ended, and what it threw', async () => {
    const run = await runLayer({ name: 'noop', turn: (_, next) => next() }, { scope: 'turn', steps: new Error('down') })
    expect(() => expect(run).toHaveEnded('completed')).toThrow(
      /to end as completed, but it ended as failed.*\n\nIt threw Error: down/,
    )
  })
})

describe('toHaveSent', () => {
  it('finds what reached the model, in any message of any call', async () => {
    const { model } = await refunded()
    expect(model).toHaveSent('Refund me')
    expect(model).toHaveSent(/"amount":900/)
    expect(model).not.toHaveSent('Done.')
    expect(() => expect(model).toHaveSent('Be brief')).toThrow(/Requests \(3\):\n {2}1\. user\n {5}"Refund me"/)
    expect(() => expect(scriptedModel([])).toHaveSent('x')).toThrow('did a layer answer in its place?')
  })
})

describe('toBeValidHistory', () => {
  const calls = (callId: string): ToolCallPart => ({ type: 'tool-call', callId, name: 't', args: {} })
  const gives = (callId: string): ToolResultPart => ({ type: 'tool-result', callId, name: 't', content: 'ok' })
  const history = (...parts: (ToolCallPart | ToolResultPart)[]): Message[] =>
    parts.map((part) => ({ role: part.type === 'tool-call' ? 'assistant' : 'tool', content: [part] }))

  it('passes where each call has one result after it', async () => {
    const { session } = await refunded()
    expect(session).toBeValidHistory()
    expect(history(calls('a'), gives('a'))).toBeValidHistory()
  })

  it.each([
    ['[0] calls t ("a"), which has no result', history(calls('a'))],
    ['[2] has another result for "a"', history(calls('a'), gives('a'), gives('a'))],
    ['[0] has a result for "a", but no call came before it', history(gives('a'), calls('a'))],
    ['[1] has a second call with the id "a"', history(calls('a'), calls('a'), gives('a'))],
  ])('tells that %s', (problem, messages) => {
    expect(() => expect(messages).toBeValidHistory()).toThrow(problem)
  })
})

describe('toHaveLeaked', () => {
  const secret = 'sk-planted"42'

  it('passes as .not where the secret is nowhere', async () => {
    expect(await refunded()).not.toHaveLeaked(secret)
    expect(() => expect('nothing').toHaveLeaked(secret)).toThrow('Was it planted?')
  })

  it.each([
    ['a field', { a: [{ b: secret }] }, 'a[0].b'],
    ['a key', { [secret]: 1 }, 'the key'],
    ['JSON in a text', { args: JSON.stringify({ secret }) }, 'args'],
    ['a URL', { url: new URL(`https://a.b/?k=${encodeURIComponent(secret)}`) }, 'url'],
    ['bytes', { data: new TextEncoder().encode(secret) }, 'data'],
    ['an error and its cause', new Error('a', { cause: new Error(secret) }), 'cause.message'],
    ['a map', { m: new Map([['a', secret]]) }, 'm.0'],
    [
      'deltas',
      [{ type: 'text-delta', delta: 'sk-pla' }, { type: 'x' }, { type: 'text-delta', delta: 'nted"42' }],
      'over several text-delta',
    ],
  ])('finds it in %s, and tells where', (_, value, place) => {
    expect(value).toHaveLeaked(secret)
    expect(() => expect(value).not.toHaveLeaked(secret)).toThrow(place)
  })

  it('looks into the history of a session, and survives circles and getters that throw', () => {
    const session = new Agent({ model: scriptedModel([]) }).session()
    session.restore({ history: [{ role: 'user', content: secret }], state: {} })
    expect(session).toHaveLeaked(secret)
    const circle: Record<string, unknown> = {
      get broken() {
        throw new Error('no')
      },
    }
    circle.self = circle
    expect(circle).not.toHaveLeaked(secret)
  })

  it('refuses an empty secret and a run that was not awaited', async () => {
    expect(() => expect('x').toHaveLeaked('')).toThrow('planted')
    const run = new Agent({ model: scriptedModel(['Hi']) }).run('Hi')
    expect(() => expect({ run }).not.toHaveLeaked(secret)).toThrow('run is a run or a promise')
    await run
  })
})

describe('toUnwind', () => {
  const run = async (layer: Middleware, steps = twoCalls) => {
    const log: string[] = []
    const model = scriptedModel(steps)
    const agent = new Agent({ model, tools: [find, refund], logger: { warn() {}, error() {} } })
    agent.use(traceLayer('outer', log)).use(layer).use(traceLayer('inner', log))
    await agent.run('Hi').catch(() => {})
    return { log, agent }
  }

  it('passes where a layer between two tracers awaits what is inside, in all scopes, while they are open and after', async () => {
    const { log, agent } = await run({ name: 'mine', turn: (_, next) => next(), model: (_, next) => next() })
    expect(log).toUnwind(['outer', 'inner'])
    expect(log.slice(0, 3)).toEqual(['agent outer:in', 'agent inner:in', 'session outer:in'])
    expect(log).toContain('tool#call-2 inner:in')
    await agent.dispose()
    expect(log).toUnwind(['outer', 'inner'])
    expect(log.at(-1)).toBe('agent outer:out')
  })

  it('passes for a retry and a skip, not for the wrong order', async () => {
    const retry: Middleware = { name: 'retry', model: (_, next) => next().catch(() => next()) }
    const { log } = await run(retry, [new Error('down'), 'ok'])
    expect(log).toUnwind(['outer', 'inner'])
    expect(() => expect(log).toUnwind(['inner', 'outer'])).toThrow('but agent outer:in came inside of none of them')
  })

  it('takes lines that were written by hand, and tells a layer that was left too early, or never entered', () => {
    expect(['a:in', 'b:in', 'b:out', 'a:out']).toUnwind(['a', 'b'])
    const early = ['a:in', 'b:in', 'a:out', 'b:out']
    expect(() => expect(early).toUnwind(['a', 'b'])).toThrow('but a:out came inside a > b')
    expect(() => expect(['a:in', 'a:out']).toUnwind(['a', 'b'])).toThrow('but b was never entered')
    expect(() => expect(['a:in']).toUnwind(['a'])).toThrow('but a was never left')
  })
})
