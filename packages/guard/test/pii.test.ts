import { Agent, delegate, type Middleware } from '@allium/core'
import { findAll, TextWindow } from '@allium/shared/detect'
import { scriptedModel } from '@allium/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type PiiOptions, pii, policy } from '../src/index.ts'
import { piiDetectors } from '../src/pii/detectors.ts'
import { calling, scene, splits, told, tool, watch } from './scene.ts'

const card = '4111 1111 1111 1111'
const mail = 'dana@example.com'
const values = {
  email: mail,
  phone: '+1 (415) 555-2671',
  card,
  iban: 'DE89 3704 0044 0532 0130 00',
  ip: '192.168.0.17',
  ssn: '078-05-1120',
  api_key: 'sk-proj-abcdefghij0123456789',
}

describe('guard.pii', () => {
  it('puts placeholders in the place of values in the input: for the model and the history, and not for its reader', async () => {
    const { agent, model } = scene([({ messages }) => `You wrote: ${messages.at(-1)?.content}`], pii())
    const session = agent.session()
    const { text, state } = await session.run(`I am ${mail}, card ${card}, ${mail}.`)
    expect(text).toBe(`You wrote: I am ${mail}, card ${card}, ${mail}.`)
    expect(session.history[1]?.content).toBe('You wrote: I am [EMAIL_1], card [CARD_1], [EMAIL_1].')
    expect(JSON.stringify([session.snapshot(), model.requests, state])).not.toMatch(/dana|4111/)
    expect(state).toEqual({ 'guard:pii:found': 3 })
  })

  it('gives tools the values, and takes what they bring back out of results, events and errors', async () => {
    const steps = [calling(['mail', { to: ['[EMAIL_1]'], n: 1 }], ['fails']), 'Sent.']
    const seen: unknown[] = []
    const log: Middleware = {
      name: 'log',
      async tool(ctx, next) {
        const result = await next()
        seen.push(ctx.args, result, String(result.error))
        return result
      },
    }
    const more: Middleware = {
      name: 'more',
      innermost: true,
      tools: [tool('fails', () => Promise.reject(new Error(`No account of ${mail}`)))],
      async tool(ctx, next) {
        const result = await next()
        return ctx.tool.name === 'mail' ? { content: `Sent to ${mail} and eve@evil.com`, value: mail } : result
      },
    }
    const { agent, ran } = scene(steps, [...pii(), log, more], { tools: ['mail'] })
    const session = agent.session()
    const { events, result } = await watch(session.run(`Write to ${mail}`))
    expect(ran).toEqual([['mail', { to: [mail], n: 1 }]])
    expect(told(result)[0]).toBe('Sent to [EMAIL_1] and [EMAIL_2]')
    const input = events.findIndex((event) => (event as { type: string }).type === 'turn:start')
    expect(JSON.stringify([events.toSpliced(input, 1), result, seen, session.snapshot()])).not.toMatch(/dana|evil/)
  })

  it.each(Object.entries(values))('hides %s in a stream, wherever it is split', async (type, value) => {
    for (const chunks of splits(`It is ${value}, so.`)) {
      const { agent } = scene([{ chunks }], pii())
      const session = agent.session()
      const { events, result } = await watch(session.run('hi'))
      expect(result.text).toBe(`It is [${type.toUpperCase()}_1], so.`)
      const shown = events.map((event) => (event as { delta?: string }).delta ?? '').join('')
      expect([shown, session.history[1]?.content]).toEqual([result.text, result.text])
    }
  })

  it('hides what is disguised: full-width, other scripts, characters that nobody sees, dashes', async () => {
    const disguised = [
      '４１１１１１１１１１１１１１１１',
      '٤١١١ ١١١١ ١١١١ ١١١١',
      '4111\u200b 1111\u00ad 1111 1111',
      '4111‑1111‑1111‑1111',
      'dana＠example．com',
    ]
    for (const value of disguised)
      for (const chunks of splits(`It is ${value}!`))
        expect((await scene([{ chunks }], pii()).agent.run('hi')).text).toMatch(/^It is \[(CARD|EMAIL)_1\]!$/)
  })

  it('hides values in thoughts and in arguments that the model makes up, and tools still get those', async () => {
    const steps = [{ reasoning: `Ask ${mail}. `, ...(calling(['mail', { to: mail }]) as object) }, 'Done.']
    const { agent, ran } = scene(steps, pii(), { tools: ['mail'] })
    const session = agent.session()
    const { events } = await watch(session.run('hi'))
    expect(ran).toEqual([['mail', { to: mail }]])
    expect(JSON.stringify([events, session.snapshot()])).not.toContain('dana')
  })

  it('lets text flow that cannot become a value', async () => {
    const { agent } = scene([{ chunks: ['All ', 'is ', 'well ', 'here'], stall: true }], pii())
    const run = agent.run('hi')
    let shown = ''
    for await (const event of run) {
      if (event.type === 'text-delta') shown += event.delta
      if (shown === 'All is well ') break
    }
    await run.catch(() => {})
    expect(shown).toBe('All is well ')
  })

  it.each([
    ['mask', 'd***@example.com, **** **** **** 1111, ****'],
    [{ email: 'mask', card: 'redact', api_key: 'hash' }, 'd***@example.com, [CARD_1], [API_KEY:e1dc6e1b3a6d]'],
  ] as [PiiOptions['onFinding'], string][])('knows other forms: %j', async (strategy, text) => {
    const said = `${mail}, ${card}, ${values.api_key}`
    const { text: answer } = await scene([said], pii({ onFinding: strategy, hashKey: 'k' })).agent.run('hi')
    expect(answer.replace(/:[0-9a-f]{12}\]/, ':e1dc6e1b3a6d]')).toBe(text)
  })

  it('gives the same hash for the same value and key', async () => {
    const hash = async (hashKey?: string) =>
      (await scene([mail], pii({ onFinding: 'hash', hashKey })).agent.run('hi')).text
    expect(await hash('k')).toBe(await hash('k'))
    expect(await hash('k')).not.toBe(await hash('other'))
    expect(await hash()).not.toBe(await hash())
  })

  it.each([
    ['input', `I am ${mail}`, 'Hello.'],
    ['answer', 'hi', `I am ${mail}, hello.`],
  ])('blocks where it is told to: %s', async (where, input, answer) => {
    const session = scene([answer], pii({ onFinding: { email: 'block' } })).agent.session()
    const { events, result } = await watch(session.run(input))
    expect([result.status, result.reason]).toEqual([
      'blocked',
      `"guard:pii" found a value of the type "email" in the ${where}.`,
    ])
    expect(JSON.stringify([events.slice(1), session.snapshot()])).not.toContain('dana')
  })

  it('lets values through that anybody may see: of the instructions, or allowed', async () => {
    const layers = pii({ allow: ['press@acme.com', /@acme\.org$/] })
    const text = 'help@acme.com press@acme.com a@acme.org b@acme.com'
    const { agent } = scene([text], layers, { instructions: 'Name help@acme.com to all.' })
    expect((await agent.run('hi')).text).toBe('help@acme.com press@acme.com a@acme.org [EMAIL_1]')
  })

  it('finds what detectors of your own find, and only the types that it is told', async () => {
    const layers = pii({ types: ['card'], detectors: [{ type: 'employee', pattern: /E-\d{4}/ }] })
    expect((await scene([`E-1234 has ${card} and ${mail}.`], layers).agent.run('hi')).text).toBe(
      `[EMPLOYEE_1] has [CARD_1] and ${mail}.`,
    )
  })

  it('cleans what other layers put into messages, also into one that was clean before', async () => {
    const profile: Middleware = {
      name: 'profile',
      turn(ctx, next) {
        ctx.messages[0] = { role: 'user', content: [{ type: 'text', text: 'No address.' }] }
        return next()
      },
      tool(ctx, next) {
        ctx.messages[0] = { role: 'user', content: [{ type: 'text', text: `The address is ${mail}.` }] }
        return next()
      },
    }
    const { agent, model } = scene([calling(['work']), 'Done.'], [...pii(), profile], { tools: ['work'] })
    await agent.run('hi')
    expect(model.requests.map(({ messages }) => messages[0]?.content)).toEqual([
      [{ type: 'text', text: 'No address.' }],
      [{ type: 'text', text: 'The address is [EMAIL_1].' }],
    ])
  })

  it('refuses a call with a placeholder that stands for nothing', async () => {
    const { agent, ran } = scene([calling(['mail', { to: '[EMAIL_7]', note: '[NOTE_1]' }]), 'Done.'], pii(), {
      tools: ['mail'],
    })
    expect([told(await agent.run('hi')), ran]).toEqual([
      ['Nobody knows what [EMAIL_7] stands for. Ask the user for it.'],
      [],
    ])
  })

  it('gives values to the tools that it names alone', async () => {
    const steps = [calling(['mail', { to: '[EMAIL_1]' }], ['search', { q: '[EMAIL_1]' }]), 'Done.']
    const { agent, ran } = scene(steps, pii({ restore: ['mail'] }), {
      tools: ['mail', 'search'],
      toolConcurrency: 1,
    })
    await agent.run(mail)
    expect(ran).toEqual([
      ['mail', { to: mail }],
      ['search', { q: '[EMAIL_1]' }],
    ])
  })

  it('keeps sessions and tenants apart, and numbers go on over the turns of one', async () => {
    const steps = Array.from({ length: 4 }, () => calling(['mail', { to: '[EMAIL_1]' }])).flatMap((step) => [
      step,
      'Done.',
    ])
    const { agent, ran, model } = scene(steps, pii(), { tools: ['mail'] })
    const open = (tenantId: string) => agent.session({ id: 'chat', principal: { tenantId } })
    await open('acme').run('a@acme.com')
    await open('globex').run('b@globex.com')
    const again = agent.session({ id: 'other', principal: { tenantId: 'acme' } })
    await again.run('c@acme.com')
    await again.run('d@acme.com')
    expect(ran.map(([, args]) => (args as { to: string }).to)).toEqual([
      'a@acme.com',
      'b@globex.com',
      'c@acme.com',
      'c@acme.com',
    ])
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('[EMAIL_2]')
  })

  it('never gives a number again that the history has, and gets values back from a vault', async () => {
    const store = new Map<string, Readonly<Record<string, string>>>()
    const vault = {
      load: async (key: string) => store.get(key),
      save: async (key: string, all: Readonly<Record<string, string>>) => void store.set(key, all),
    }
    const resumed = async (options: PiiOptions) => {
      const before = scene(['Hello [EMAIL_1].'], pii(options)).agent.session({ id: 'chat' })
      await before.run(mail)
      const steps = [calling(['mail', { to: '[EMAIL_1]' }]), 'Done.']
      const { agent, model, ran } = scene(steps, pii(options), { tools: ['mail'] })
      const session = agent.session({ id: 'chat' })
      session.restore(before.snapshot())
      await session.run('eve@evil.com')
      return [JSON.stringify(model.requests[0]?.messages).includes('[EMAIL_2]'), ran.length]
    }
    expect([await resumed({}), await resumed({ vault })]).toEqual([
      [true, 0],
      [true, 1],
    ])
    expect([...store.keys()]).toEqual(['guard:pii:["","","agent","chat"]'])
  })

  it('takes values out of the fields and causes of what a tool threw, and keeps what a retry asks for', async () => {
    const request: Record<string, unknown> = { body: JSON.stringify({ to: mail }) }
    request.self = request
    const thrown = Object.assign(new Error('Mail failed.', { cause: new Error(`no ${mail}`) }), {
      status: 503,
      request,
    })
    const fails = tool('mail', () => Promise.reject(thrown))
    const model = scriptedModel([calling(['mail', { to: mail }]), 'Sorry.'])
    const agent = new Agent({ model, tools: [fails], logger: { warn() {}, error() {} } }).use(pii())
    const error = (await agent.run('go')).toolCalls[0]?.result.error as typeof thrown
    expect(error).toMatchObject({ message: 'Mail failed.', status: 503, cause: { message: 'no [EMAIL_1]' } })
    expect(JSON.stringify([error, String(error.cause), error.request])).not.toContain('dana')
  })

  it('never gives a number that an answer of another session brought', async () => {
    const { agent, model, ran } = scene([calling(['mail', { to: '[EMAIL_1]' }]), 'Sent.'], pii(), { tools: ['mail'] })
    const fromCache: Middleware = { name: 'cached', model: (ctx) => ctx.skipCall('Write to [EMAIL_1].') }
    const session = agent.session()
    await session.run('Whom do I ask?', { use: [fromCache] })
    const result = await session.run(`I am ${mail}. Write to them.`)
    expect(JSON.stringify(model.requests[0]?.messages)).toContain('I am [EMAIL_2]')
    expect([ran, told(result)]).toEqual([[], [expect.stringContaining('Nobody knows what [EMAIL_1] stands for')]])
  })

  it('gives parallel calls different numbers', async () => {
    const brings: Middleware = {
      name: 'brings',
      innermost: true,
      tool: async (ctx) => ctx.skipCall(`u${ctx.callIndex}@example.com`),
    }
    const steps = [calling(['work'], ['work'], ['work']), 'Done.']
    const { agent } = scene(steps, [...pii(), brings], { tools: ['work'] })
    expect(new Set(told(await agent.run('hi'))).size).toBe(3)
  })

  it('stands around the calls of sub-agents', async () => {
    const inner = scriptedModel([({ messages }) => `Asked: ${JSON.stringify(messages)}`])
    const child = new Agent({ name: 'child', model: inner })
    const ask = {
      ...tool('ask'),
      execute: async (args: { q: string }, ctx: never) => (await delegate(ctx, child, args.q))?.text,
    }
    const model = scriptedModel([calling(['ask', { q: 'Who is [EMAIL_1]?' }]), 'Done.'])
    const agent = new Agent({ model, tools: [ask as never] }).use(pii())
    const result = await agent.run(mail)
    expect(JSON.stringify([inner.requests, result.toolCalls])).not.toContain('dana')
    expect(JSON.stringify(inner.requests)).toContain('[EMAIL_1]')
  })

  it('lets policies see what tools get, and says where it has to stand', async () => {
    const rule = policy({ rules: [{ tool: 'mail', args: { to: /@example\.com$/ } }] })
    const steps = [calling(['mail', { to: '[EMAIL_1]' }]), 'Done.']
    const { agent, ran } = scene(steps, [...pii(), rule], { tools: ['mail'] })
    await agent.run(mail)
    expect(ran.length).toBe(1)
    expect(scene([], [rule, ...pii()]).agent.check()).toEqual([
      expect.objectContaining({ layers: ['guard:pii:calls', 'guard:policy'] }),
    ])
    const log: Middleware = { name: 'log', order: { is: ['observes'] }, turn: (_, next) => next() }
    expect(scene([], [log, ...pii()]).agent.check()[0]?.layers).toEqual(['guard:pii', 'log'])
  })

  it.each(['block', 'allow'] as const)('where its vault fails: %s', async (onError) => {
    const vault = { load: () => Promise.reject(new Error('down')), save() {} }
    const { agent, model } = scene(['Hello.'], pii({ vault, onError }))
    const { status } = await agent.run(mail)
    expect([status, model.calls]).toEqual(onError === 'block' ? ['blocked', 0] : ['completed', 1])
  })

  it('refuses a type that it does not know', () => {
    expect(() => pii({ types: ['shoe-size' as never] })).toThrow(expect.objectContaining({ code: 'layer.config' }))
  })

  it.each(['order-id', 'Order', '1order', 'order id', 'ordér', '', 'x'.repeat(42)])(
    'refuses a detector whose type is no name for placeholders: %j',
    (type) => {
      const config = expect.objectContaining({ code: 'layer.config' })
      expect(() => pii({ detectors: [{ type, pattern: /x/ }] })).toThrow(config)
    },
  )

  it.each([
    ['99999999', 100_000_000],
    ['999999999', 1],
    ['000000007', 8],
  ])('has numbers left where a text names the number %s', async (number, next) => {
    const call = calling(['mail', { to: `[EMAIL_${next}]`, cc: `[EMAIL_${next + 1}]` }])
    const { agent, ran } = scene(['Hi.', call, 'Done.'], pii(), { tools: ['mail'] })
    const session = agent.session()
    await session.run(`What is [EMAIL_${number}]?`)
    await session.run('Write to a@acme.com and b@acme.com')
    expect(ran).toEqual([['mail', { to: 'a@acme.com', cc: 'b@acme.com' }]])
  })
})

describe('what guard.pii finds', () => {
  const all = Object.values(piiDetectors).flat()
  const found = (text: string) => findAll(all, text).map(({ type, text }) => `${type} ${text}`)

  it.each([
    ['a.b+c@sub.example.co.uk.', ['email a.b+c@sub.example.co.uk']],
    ['<joe@x.org>, user@münchen.de', ['email joe@x.org', 'email user@münchen.de']],
    ['5500-0000-0000-0004, 3782 822463 10005', ['card 5500-0000-0000-0004', 'card 3782 822463 10005']],
    [
      '4111  1111  1111  1111, 4111 - 1111 - 1111 - 1111',
      ['card 4111  1111  1111  1111', 'card 4111 - 1111 - 1111 - 1111'],
    ],
    ['4111_1111_1111_1111, 4111\n1111\n1111\n1111.', ['card 4111_1111_1111_1111', 'card 4111\n1111\n1111\n1111']],
    ['4111\t1111\t1111\t1111', ['card 4111\t1111\t1111\t1111']],
    ['4111\n1111\n1111\n1111\n2222\n', []],
    ['GB82WEST12345698765432', ['iban GB82WEST12345698765432']],
    ['030 1234567, 020 7946 0958, 415.555.2671', ['phone 030 1234567', 'phone 020 7946 0958', 'phone 415.555.2671']],
    ['+49 89 123456', ['phone +49 89 123456']],
    ['2001:db8::1 and ::ffff:10.0.0.1', ['ip 2001:db8::1', 'ip ::ffff:10.0.0.1']],
    [
      'AKIAIOSFODNN7EXAMPLE, ghp_abcdefghijklmnopqrst0123456789',
      ['api_key AKIAIOSFODNN7EXAMPLE', 'api_key ghp_abcdefghijklmnopqrst0123456789'],
    ],
    [
      'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jk.',
      ['api_key eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jk'],
    ],
  ])('finds %s', (text, expected) => {
    expect(found(text)).toEqual(expected)
  })

  it.each([
    'Order 12345678 of 2026-11-22, 01.02.2026 at 12:30:45.',
    '4111111111111112 is no card, DE89370400440532013001 no IBAN.',
    'std::vector, sk-learn, version 10.2.3, 999-99-9999, 1.2.3.400',
    '@dana wrote a@b, and 3.14159265358979',
    '[EMAIL_1], [CARD_12], [API_KEY:0123456789ab]',
  ])('leaves alone: %s', (text) => {
    expect(found(text)).toEqual([])
  })

  it('finds in pieces what it finds in the whole, for any text and any split', () => {
    const word = fc.constantFrom(
      ...Object.values(values),
      'Hello',
      'a',
      '@',
      '.',
      '-',
      '+',
      '(',
      ' ',
      '\n',
      '41',
      '1 2',
      'DE',
      'sk-',
      '٤',
      '\u200b',
      '😀',
      '::1',
      'x@y.de',
      '0',
    )
    const text = fc.array(word, { maxLength: 12 }).map((words) => words.join(''))
    fc.assert(
      fc.property(text, fc.array(fc.nat(8), { minLength: 1, maxLength: 40 }), (text, sizes) => {
        const window = new TextWindow(all)
        const pieces: string[] = []
        for (let at = 0, i = 0; at < text.length; i++) {
          const size = 1 + (sizes[i % sizes.length] as number)
          pieces.push(text.slice(at, at + size))
          at += size
        }
        const inPieces = [...pieces.flatMap((piece) => window.add(piece)), ...window.end()]
        expect(inPieces).toEqual(findAll(all, text))
      }),
      { numRuns: 2000 },
    )
  })
})
