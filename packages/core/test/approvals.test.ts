import { describe, expect, it } from 'vitest'
import { manualClock } from '../../testing/src/index.ts'
import type { AgentOptions, AnyTool, Decision, Part, Snapshot } from '../src/index.ts'
import { build, failure, only, read, tool } from './kit.ts'

const steps = [{ toolCalls: [{ name: 'pay', callId: 'c1', args: { cents: 5 } }] }, 'Paid.']
const acme = { tenantId: 'acme' }

/** A session that waits for the approval of a payment; `ran` holds what was paid. */
async function waiting(options: Partial<AgentOptions> = {}, pay: Partial<AnyTool> = {}) {
  const ran: unknown[] = []
  const tools = [tool('pay', (args) => ran.push(args), { requireApproval: true, ...pay })]
  const { agent } = build([...steps, 'Later.'], [], { tools, ...options })
  const session = agent.session({ principal: acme })
  const { pending } = await session.run('pay')
  return { agent, session, ran, token: pending[0]?.token as string, snapshot: session.snapshot() }
}

/** Restores a snapshot into a new session of a new agent, and decides there. */
async function elsewhere(
  snapshot: Snapshot,
  decision: Decision,
  { principal = acme as unknown, pay = {} as Partial<AnyTool>, ...options }: Record<string, unknown> = {},
) {
  const ran: unknown[] = []
  const tools = [tool('pay', (args) => ran.push(args), { requireApproval: true, ...(pay as object) })]
  const session = build(['Paid.'], [], { tools, ...options }).agent.session({ principal })
  session.restore(JSON.parse(JSON.stringify(snapshot)))
  const error = await failure(session.resume({ c1: decision })).catch(() => undefined)
  return { code: error?.code, message: error?.message, ran, session }
}

describe('an approval', () => {
  const approve = { approve: true } as const

  it('is used once: the same decision again finds nothing that waits', async () => {
    const { session, ran } = await waiting()
    await session.resume({ c1: approve })
    expect((await failure(session.resume({ c1: approve }))).code).toBe('approval.used')
    expect(ran).toHaveLength(1)
  })

  it('is not used again by restoring what was before it', async () => {
    const { session, ran, snapshot } = await waiting()
    await session.resume({ c1: approve })
    session.restore(snapshot)
    expect((await failure(session.resume({ c1: approve }))).code).toBe('approval.used')
    session.restore({ history: snapshot.history, state: {} })
    expect((await failure(session.resume({ c1: approve }))).code).toBe('approval.used')
    expect(ran).toHaveLength(1)
  })

  it('expires: from then on the call can only be denied', async () => {
    const clock = manualClock()
    const { session, ran } = await waiting({ clock, approvals: { expiresIn: 1000 } })
    expect(session.pending[0]?.expiresAt).toBe(clock.now() + 1000)
    await clock.advance(1000)
    expect((await failure(session.resume({ c1: approve }))).code).toBe('approval.expired')
    expect((await session.resume({ c1: { deny: 'too late' } })).text).toBe('Paid.')
    expect(ran).toEqual([])
  })

  it.each([
    ['the arguments', (s: Snapshot) => edit(s, (call) => (call.args = { cents: 500 }))],
    ['the name of the tool', (s: Snapshot) => edit(s, (call) => (call.name = 'refund'))],
    ['the expiry', (s: Snapshot) => (record(s).expiresAt = 9e15)],
    ['the request that the human reads', (s: Snapshot) => (record(s).request = { reason: 'harmless' })],
    ['the tenant', (s: Snapshot) => (record(s).tenant = 'other')],
    ['the digest of the arguments', (s: Snapshot) => (record(s).args = 'x')],
  ])('is refused where somebody edited %s in the store', async (_, tamper) => {
    const { snapshot } = await waiting()
    tamper(snapshot)
    const { code, ran } = await elsewhere(snapshot, approve)
    expect([code, ran]).toEqual(['approval.forged', []])
  })

  it('belongs to its tenant', async () => {
    const { snapshot } = await waiting()
    const { code } = await elsewhere(snapshot, approve, { principal: { tenantId: 'other' } })
    expect(code).toBe('approval.forged')
    expect((await elsewhere(snapshot, { deny: 'no' }, { principal: {} })).code).toBe('approval.forged')
  })

  it.each([
    ['the schema of the tool', { pay: { jsonSchema: { type: 'object', required: ['iban'] } } }, 'has another schema'],
    ['the tool, which is gone,', { tools: [] }, 'is gone'],
  ])('is refused where %s has changed since, and says so', async (_, options, said) => {
    const { snapshot } = await waiting({ version: '1' })
    const { code, message, session } = await elsewhere(snapshot, approve, { version: '1', ...options })
    expect([code, session.pending.length]).toEqual(['approval.changed', 1])
    expect(message).toContain(said)
  })

  it('is valid in another version of the agent, whose tool has the same schema', async () => {
    const { snapshot } = await waiting({ version: '1' })
    const { code, ran } = await elsewhere(snapshot, approve, { version: '2' })
    expect([code, ran.length]).toEqual([undefined, 1])
  })

  it.each([
    [{}, 'approval.invalid'],
    [{ approve: false }, 'approval.invalid'],
    [{ approve: true, deny: 'both' }, 'approval.invalid'],
    [{ approve: true, args: {} }, 'approval.invalid'],
    [{ deny: 1 }, 'approval.invalid'],
    [{ args: [] }, 'approval.invalid'],
    [{ approve: true, extra: 1 }, 'approval.invalid'],
    [null, 'approval.invalid'],
    ['yes', 'approval.invalid'],
  ])('of an unknown shape is an error and changes nothing: %j', async (decision, code) => {
    const { session, ran } = await waiting()
    const before = session.snapshot()
    expect((await failure(session.resume({ c1: decision as never }))).code).toBe(code)
    expect([session.snapshot(), ran]).toEqual([before, []])
  })

  it('for a call that does not wait names those that do, and changes nothing', async () => {
    const { session } = await waiting()
    const error = await failure(session.resume({ c1: approve, c2: approve }))
    expect([error.code, error.message]).toEqual([
      'approval.unknown',
      'No call "c2" waits for a decision. Pending: "c1". A decision is { approve: true }, { deny: "why" } or { args: { … } }.',
    ])
    expect(session.pending).toHaveLength(1)
    expect((await failure(session.resume({}))).message).toMatch(/^resume\(\) got no decision\. Pending: "c1"\./)
    for (const none of [{}, undefined, null, []])
      expect((await failure(session.resume(none as never))).code).toBe('approval.invalid')
  })

  it('with edited arguments is checked against the schema of the tool', async () => {
    const validate = (_: unknown, { cents }: { cents?: unknown }) =>
      typeof cents === 'number' ? [] : [{ message: 'cents is a number' }]
    const { session, ran } = await waiting({ validate: validate as never })
    const error = await failure(session.resume({ c1: { args: { cents: 'many' } } }))
    expect([error.code, ran]).toEqual(['approval.invalid', []])
    expect(error.message).toContain('cents is a number')
    expect((await failure(session.resume({ c1: { args: JSON.parse('{"__proto__":1}') } }))).code).toBe(
      'approval.invalid',
    )
  })

  it('that is refused leaves no event but the end of its stream', async () => {
    const { session } = await waiting()
    expect((await read(session.resume({ nobody: approve }))).events).toEqual([])
  })
})

describe('a decision for a call whose id holds a "/"', () => {
  const call = (callId: string): Part => ({ type: 'tool-call', callId, name: 'pay', args: { for: callId } })
  const of = (...ids: string[]): Snapshot => ({
    history: [{ role: 'assistant', content: ids.map(call) }],
    state: {},
  })
  const restored = (snapshot: Snapshot) => {
    const ran: unknown[] = []
    const { agent } = build(['Paid.'], [], {
      tools: [tool('pay', (args) => ran.push(args.for), { requireApproval: true })],
    })
    const session = agent.session()
    session.restore(snapshot)
    return { session, ran }
  }

  it('is for that call alone, and not for the one whose id comes before the "/"', async () => {
    const { session, ran } = restored(of('o1', 'o1/p1'))
    const { pending } = await session.resume({ 'o1/p1': { approve: true } })
    expect([ran, pending.map(({ callId }) => callId)]).toEqual([['o1/p1'], ['o1']])
    await session.resume({ o1: { approve: true } })
    expect(ran).toEqual(['o1/p1', 'o1'])
  })

  it('is refused where a call inside a sub-agent waits under the same id', async () => {
    const sealed = { token: 't', turnId: 't:0', agent: 'agent', name: 'pay', sent: '', args: '', schema: '' }
    const inner = { agent: 'clerk', snapshot: of('p1') }
    const suspension = {
      ...{ turnId: 't:0', rootId: 't:0', stepIndex: 0, state: {} },
      calls: { o1: { ...sealed, inner } },
    }
    const { session, ran } = restored({ ...of('o1', 'o1/p1'), suspension })
    expect(session.pending.map(({ callId }) => callId)).toEqual(['o1/p1', 'o1/p1'])
    const error = await failure(session.resume({ 'o1/p1': { approve: true } }))
    expect([error.code, ran]).toEqual(['approval.invalid', []])
    expect(error.message).toContain('Two pending calls have the id "o1/p1"')
  })
})

describe('approvals with a secret', () => {
  const approvals = { secret: 'only the server knows' }

  it('must carry the token of their call', async () => {
    const { session, token, ran } = await waiting({ approvals })
    expect((await failure(session.resume({ c1: { approve: true } }))).message).toContain('has no token')
    expect((await failure(session.resume({ c1: { approve: true, token: 'guess' } }))).code).toBe('approval.forged')
    await session.resume({ c1: { approve: true, token } })
    expect(ran).toEqual([{ cents: 5 }])
  })

  it('cannot be made by who can write the store but does not know the secret', async () => {
    const { snapshot: unsigned, token } = await waiting()
    const { code } = await elsewhere(unsigned, { approve: true, token }, { approvals })
    expect(code).toBe('approval.forged')
    const raw = { history: unsigned.history, state: {} }
    expect((await elsewhere(raw, { approve: true, token }, { approvals })).code).toBe('approval.forged')
  })

  it('hold in another process that knows the secret', async () => {
    const { snapshot, token } = await waiting({ approvals })
    const { code, ran } = await elsewhere(snapshot, { approve: true, token }, { approvals })
    expect([code, ran]).toEqual([undefined, [{ cents: 5 }]])
  })

  it('hold where another secret signs by now, as long as the old one is among them', async () => {
    const { snapshot, token } = await waiting({ approvals })
    const rotated = { secret: ['a new one', approvals.secret] }
    expect((await elsewhere(snapshot, { approve: true, token }, { approvals: rotated })).code).toBeUndefined()
    const gone = await elsewhere(snapshot, { approve: true, token }, { approvals: { secret: ['a new one'] } })
    expect(gone.code).toBe('approval.forged')
    const fresh = await waiting({ approvals: rotated })
    const old = await elsewhere(fresh.snapshot, { approve: true, token: fresh.token }, { approvals })
    expect(old.code).toBe('approval.forged')
  })

  it('are not for the same call of another run', async () => {
    const first = await waiting({ approvals })
    const { code } = await elsewhere(
      (await waiting({ approvals })).snapshot,
      { approve: true, token: first.token },
      { approvals },
    )
    expect(code).toBe('approval.forged')
  })

  it('show their token to no layer', async () => {
    const seen: unknown[] = []
    const { agent } = build(steps, [], {
      approvals,
      tools: [tool('pay', (_, ctx) => seen.push(ctx.approval), { requireApproval: true })],
    })
    const session = agent.session()
    const token = (await session.run('pay')).pending[0]?.token as string
    const { events } = await read(session.resume({ c1: { approve: true, token } }))
    expect(seen).toEqual([{ approve: true }])
    expect(JSON.stringify([events, session.history])).not.toContain(token)
    expect(only(events, 'turn:end')).toHaveLength(1)
  })
})

it('a call that waits is cancelled where a layer leaves the turn while its sibling still runs, and answers itself', async () => {
  const late = new AbortController()
  const slow = tool('slow', () => {
    late.abort(new Error('late'))
    return new Promise(() => {})
  })
  const calls = [
    { name: 'pay', callId: 'c1' },
    { name: 'slow', callId: 'c2' },
  ]
  const { agent } = build(
    [{ toolCalls: calls }],
    [
      {
        name: 'leaves',
        async turn(ctx, next) {
          await next({ signal: late.signal }).catch(() => {
            ctx.output = 'Another time.'
          })
        },
      },
    ],
    { tools: [tool('pay', undefined, { requireApproval: true }), slow] },
  )
  const session = agent.session()
  const { status, pending, messages } = await session.run('pay')
  expect([status, pending]).toEqual(['completed', []])
  expect(messages.at(-2)?.content).toMatchObject(['c1', 'c2'].map((callId) => ({ callId, content: 'Cancelled.' })))
})

function edit({ history }: Snapshot, change: (call: { name: string; args: object }) => void): void {
  for (const { content } of history)
    if (typeof content !== 'string') for (const part of content) if (part.type === 'tool-call') change(part)
}

function record({ suspension }: Snapshot) {
  return suspension?.calls.c1 as NonNullable<typeof suspension>['calls'][string]
}
