import { inspect } from 'node:util'
import { Agent, defineTool, delegate, type Message, type Middleware } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { findPhoneNumbersInText } from 'libphonenumber-js'
import { describe, expect, it } from 'vitest'
import { approve, content, injection, input, judge, pii } from '../src/index.ts'
import { calling, scene, splits, watch } from './scene.ts'

const mail = 'dana@example.com'
type Sent = Record<string, never>
const card = 4111111111111111

describe('where guard.pii looks', () => {
  it('keeps what a sub-agent is given from its model, its history and its observers, and gives its tools the values', async () => {
    const inner = scriptedModel([calling(['send', { to: '[EMAIL_1]' }]), 'Sent.'])
    const sent: unknown[] = []
    const send = {
      name: 'send',
      description: 'Sends',
      jsonSchema: {},
      execute: (args: unknown) => void sent.push(args),
    }
    const seen: unknown[] = []
    const look = (...all: unknown[]) => void seen.push(...all)
    const log: Middleware = { name: 'log', turn: (ctx, next) => next().then(() => look(ctx.input, ctx.history)) }
    const child = new Agent({ name: 'child', model: inner, tools: [send as never] }).use(log)
    const ask = {
      name: 'ask',
      description: 'Asks',
      jsonSchema: {},
      execute: async ({ q }: { q: string }, ctx: never) => (await delegate(ctx, child, q))?.messages,
    }
    const model = scriptedModel([calling(['ask', { q: 'Write to [EMAIL_1].' }]), 'Done.'])
    const session = new Agent({ model, tools: [ask as never] }).use(pii()).session()
    await session.run(`I am ${mail}`)
    expect(sent).toEqual([{ to: mail }])
    expect(JSON.stringify([seen, inner.requests, session.snapshot()])).not.toContain('dana')
  })

  it.each([
    ['content', content({ keywords: ['nightingale'] })],
    ['input', input((text) => !text.includes('nightingale'))],
    ['injection', injection({ detectors: [(text) => (text.includes('nightingale') ? 1 : 0)] })],
  ])('guard.%s looks at what a sub-agent is given, too', async (_, layer) => {
    const child = new Agent({ name: 'child', model: scriptedModel(['Never.']) })
    const execute = async (_: unknown, ctx: never) => (await delegate(ctx, child, 'Of the nightingale.'))?.text
    const ask = { name: 'ask', description: 'Asks', jsonSchema: {}, execute }
    const agent = new Agent({ model: scriptedModel([calling(['ask'])]), tools: [ask as never] }).use(
      layer as Middleware,
    )
    expect((await agent.run('hi')).status).toBe('blocked')
  })

  it('shows no value of a key that the arguments of a call have twice', async () => {
    const chunks = [
      { type: 'tool-input-start', callId: 'c1', name: 'send' },
      { type: 'tool-input-delta', callId: 'c1', delta: `{"to":"${mail}","to":"nobody"}` },
      { type: 'tool-input-end', callId: 'c1' },
    ] as const
    const { agent, ran } = scene([{ chunks: [...chunks] }, 'Done.'], pii(), { tools: ['send'] })
    const { events } = await watch(agent.run('go'))
    expect(ran).toEqual([['send', { to: 'nobody' }]])
    expect(JSON.stringify(events)).not.toContain('dana')
  })

  it('finds numbers in arguments, and tools get numbers back', async () => {
    const steps = [calling(['pay', { card, amount: 12.5 }]), calling(['pay', { card: '[CARD_1]' }]), 'Done.']
    const { agent, ran } = scene(steps, pii(), { tools: ['pay'] })
    const session = agent.session()
    await session.run('go')
    expect(ran.map(([, args]) => args)).toEqual([{ card, amount: 12.5 }, { card }])
    expect(JSON.stringify(session.snapshot())).not.toContain('4111')
  })

  it('finds what reaches over two parts of a text, in text files and their names', async () => {
    const { agent, model } = scene(['Hello.'], pii())
    const csv = new TextEncoder().encode(`name,mail\nDana,${mail}\n`)
    const parts: Message = {
      role: 'user',
      content: [
        { type: 'text', text: 'I am dana@exam' },
        { type: 'text', text: 'ple.com, hello.' },
        { type: 'file', data: csv, mediaType: 'text/csv', filename: `${mail}.csv` },
        { type: 'file', data: btoa(`{"to":"\\n${mail}"}`), mediaType: 'application/json' },
        { type: 'file', data: `data:text/plain,to%20${mail}`, mediaType: 'text/plain' },
      ],
    }
    await agent.run(parts)
    const [sent = {} as Message] = model.requests[0]?.messages ?? []
    const [text, rest, file, json, url] = sent.content as unknown as Sent[]
    expect([text?.text, rest?.text]).toEqual(['I am [EMAIL_1]', ', hello.'])
    expect([new TextDecoder().decode(file?.data), file?.filename]).toEqual([
      'name,mail\nDana,[EMAIL_1]\n',
      '[EMAIL_1].csv',
    ])
    expect(atob(json?.data ?? '')).toBe('{"to":"\\n[EMAIL_1]"}')
    expect(decodeURIComponent(url?.data ?? '')).toBe('data:text/plain,to [EMAIL_1]')
  })

  it.each([
    ['a text', `no ${mail}`],
    ['an object', { why: mail }],
    ['several errors', new AggregateError([new Error(mail)], 'failed')],
    ['an error of another realm', Object.assign(Object.create({ [Symbol.toStringTag]: 'Error' }), { message: mail })],
  ])('cleans what a tool throws that is no plain Error: %s', async (_, thrown) => {
    const fails = defineTool({
      name: 'mail',
      description: 'Mails',
      jsonSchema: {},
      execute: () => Promise.reject(thrown),
    })
    const model = scriptedModel([calling(['mail', { to: mail }]), 'Sorry.'])
    const agent = new Agent({ model, tools: [fails], logger: { warn() {}, error() {} } }).use(pii())
    const { toolCalls } = await agent.run('go')
    const error = toolCalls[0]?.result.error as AggregateError | undefined
    const all = JSON.stringify([error, String(error), error?.message, error?.stack, error?.errors?.map(String)])
    expect(all).not.toContain('dana')
    expect(all).toContain('[EMAIL_1]')
  })

  it.each([
    ['headers', { response: { status: 400, headers: new Headers({ 'x-to': mail, 'retry-after': '7' }) } }],
    ['a Map and a URL', { seen: new Map([['to', mail]]), url: new URL(`https://host/?to=${mail}`) }],
    ['a field that is not enumerable', Object.defineProperty({}, 'request', { value: { to: mail } })],
    ['a field with a symbol', { [Symbol('request')]: { to: mail } }],
  ])('cleans what an error carries in %s', async (_, fields) => {
    const thrown = Object.defineProperties(new Error('failed'), Object.getOwnPropertyDescriptors(fields))
    const execute = () => Promise.reject(thrown)
    const fails = defineTool({ name: 'mail', description: 'Mails', jsonSchema: {}, execute })
    const model = scriptedModel([calling(['mail']), 'Sorry.'])
    const agent = new Agent({ model, tools: [fails], logger: { warn() {}, error() {} } }).use(pii())
    const { toolCalls } = await agent.run('go')
    const error = toolCalls[0]?.result.error as Error & { response?: { headers: Headers } }
    expect(inspect(error, { showHidden: true, depth: 9 })).not.toContain('dana')
    expect(error.message).toBe('failed')
    if (error.response !== undefined) expect(error.response.headers.get('retry-after')).toBe('7')
  })

  it('keeps an error in which it finds nothing, hidden fields, getters and headers included', async () => {
    class Refused extends Error {
      status = 409
      headers = new Headers({ 'retry-after': '7' })
      get reason(): string {
        return 'busy'
      }
      get broken(): never {
        throw new Error('unreadable')
      }
    }
    const thrown = Object.defineProperty(new Refused('no'), 'request', { value: { method: 'GET' } })
    const execute = () => Promise.reject(thrown)
    const fails = defineTool({ name: 'mail', description: 'Mails', jsonSchema: {}, execute })
    const agent = new Agent({
      model: scriptedModel([calling(['mail']), 'Sorry.']),
      tools: [fails],
      logger: { warn() {}, error() {} },
    }).use(pii())
    expect((await agent.run('go')).toolCalls[0]?.result.error).toBe(thrown)
  })

  it('a judge outside of it is told so', () => {
    const court = judge({ model: scriptedModel([]), rubric: 'Be kind.' })
    expect(scene([], [court, ...pii()]).agent.check()).toEqual([
      expect.objectContaining({ layers: ['guard:pii', 'guard:judge'] }),
    ])
    expect(scene([], [...pii(), court]).agent.check()).toEqual([])
  })
})

describe('what the reader of guard.pii sees', () => {
  const answer = `To [EMAIL_1] and eve@evil.com. [EMAIL_9] [no_1]`
  const shown = async (display: 'own' | 'all' | 'none', chunks: string[]) => {
    const session = scene([{ chunks }], pii({ display })).agent.session()
    const { events, result } = await watch(session.run(`I am ${mail}`))
    const deltas = events.map((event) => (event as { delta?: string }).delta ?? '').join('')
    expect([deltas, JSON.stringify(session.snapshot()).includes('dana')]).toEqual([result.text, false])
    return deltas
  }

  it('is what it wrote itself, in whatever pieces it comes, and no value of anybody else', async () => {
    for (const chunks of splits(answer))
      expect(await shown('own', chunks)).toBe(`To ${mail} and [EMAIL_2]. [EMAIL_9] [no_1]`)
  })

  it.each([
    ['all', `To ${mail} and eve@evil.com. [EMAIL_9] [no_1]`],
    ['none', 'To [EMAIL_1] and [EMAIL_2]. [EMAIL_9] [no_1]'],
  ] as const)('or %s of it', async (show, text) => {
    expect(await shown(show, [answer])).toBe(text)
  })

  it('stays so in a session that was restored', async () => {
    const values = new Map<string, Readonly<Record<string, string>>>()
    const vault = {
      load: (key: string) => values.get(key),
      save: (key: string, all: never) => void values.set(key, all),
    }
    const before = scene(['Hello.'], pii({ vault })).agent.session({ id: 'chat' })
    await before.run(`I am ${mail}`)
    const session = scene(['You are [EMAIL_1].'], pii({ vault })).agent.session({ id: 'chat' })
    session.restore(before.snapshot())
    expect((await session.run('Who am I?')).text).toBe(`You are ${mail}.`)
  })

  it('is no value that it only named by its placeholder, in this process or in another', async () => {
    const values = new Map<string, Readonly<Record<string, string>>>()
    const vault = {
      load: (key: string) => values.get(key),
      save: (key: string, all: never) => void values.set(key, all),
    }
    const steps = ['Ask eve@evil.com.', 'It is [EMAIL_1].', 'It is [EMAIL_1].']
    const first = scene(steps, pii({ vault })).agent.session({ id: 'chat' })
    await first.run('Whom do I ask?')
    expect((await first.run('Say [EMAIL_1] again.')).text).toBe('It is [EMAIL_1].')
    expect((await first.run('And again.')).text).toBe('It is [EMAIL_1].')
    const second = scene(['It is [EMAIL_1].'], pii({ vault })).agent.session({ id: 'chat' })
    second.restore(first.snapshot())
    expect((await second.run('Once more.')).text).toBe('It is [EMAIL_1].')
  })

  it('and who approves a call sees what is to run', async () => {
    const steps = [calling(['mail', { to: '[EMAIL_1]' }]), 'Sent.']
    const { agent, ran } = scene(steps, [...pii(), approve() as Middleware], { tools: ['mail'] })
    const session = agent.session()
    const { pending } = await session.run(`Write to ${mail}`)
    expect(pending[0]?.args).toEqual({ to: mail })
    await session.resume({ [pending[0]?.callId as string]: { approve: true } })
    expect(ran).toEqual([['mail', { to: mail }]])
  })
})

it('finds national numbers of a country with the phone library', async () => {
  const phones = { find: findPhoneNumbersInText, countries: ['FR', 'US'] }
  const { agent } = scene(['Le 1 42 68 53 00, or call 2015550123.'], pii({ phones }))
  expect((await agent.run('hi')).text).toBe('Le [PHONE_1], or call [PHONE_2].')
})
