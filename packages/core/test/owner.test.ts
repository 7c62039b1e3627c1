import { describe, expect, it } from 'vitest'
import { type AgentOptions, delegate, type Middleware, ownerOf, sessionKeyOf, tenantOf } from '../src/index.ts'
import { build, failure, oneCall, tool } from './kit.ts'

const nonsense: [string, unknown][] = [
  ['a bigint', 7n],
  ['an object', { id: 'acme' }],
  ['a list', ['acme']],
  ['a boolean', true],
  ['a function', () => 'acme'],
  ['a symbol', Symbol('acme')],
  ['a number that is no integer', 1.5],
  ['a number that is no safe integer', 2 ** 53],
  ['NaN', Number.NaN],
  ['a text with a NUL', 'ac\0me'],
  ['a text with a line break', 'ac\nme'],
  ['a text with half a character', 'ac\ud83d'],
]

describe.each([
  ['tenantOf', tenantOf, 'tenantId', 'tenant'],
  ['ownerOf', ownerOf, 'userId', 'user'],
] as const)('%s', (_, of, first, second) => {
  it(`reads ${first}, else ${second}`, () => {
    expect(of({ [first]: 'a', [second]: 'b' })).toBe('a')
    expect([of({ [second]: 'b' }), of({ [first]: null, [second]: 'b' }), of({ [first]: '', [second]: 'b' })]).toEqual([
      'b',
      'b',
      'b',
    ])
    expect([of({ [first]: 0 }), of({ [first]: -7 }), of({ [first]: 'a', [second]: { name: 'A' } })]).toEqual([
      ...['0', '-7', 'a'],
    ])
  })

  it.each([[undefined], [null], [{}], ['acme'], [7], [{ [first]: undefined, [second]: null }], [{ [second]: '' }]])(
    'gives none for %j',
    (principal) => expect(of(principal)).toBeUndefined(),
  )

  it.each(nonsense)(`throws for %s, and so does session()`, async (_, id) => {
    for (const field of [first, second]) {
      const { agent } = build(['never'])
      const opened = await failure(() => agent.session({ principal: { [field]: id } }))
      expect([opened.code, (await failure(() => of({ [field]: id }))).code]).toEqual(Array(2).fill('session.principal'))
      expect(opened.message).toContain(`The ${field} of the principal is `)
    }
  })
})

describe('sessionKeyOf', () => {
  const keyOf = async (of: { id?: string; principal?: unknown }, options: Partial<AgentOptions> = {}) => {
    let key = ''
    const reads: Middleware = {
      name: 'reads',
      turn(ctx, next) {
        key = sessionKeyOf(ctx)
        return next()
      },
    }
    await build(['ok'], [reads], options).agent.session(of).run('hi')
    return key
  }

  it('is tenant, owner, agent and id, as a list', async () => {
    expect(await keyOf({ id: 'chat', principal: { tenantId: 'acme', userId: 7 } })).toBe('["acme","7","agent","chat"]')
    expect(await keyOf({ id: 'chat' })).toBe('["","","agent","chat"]')
  })

  it('is that of the team where the agent says that sessions are a team’s', async () => {
    const owner = (principal: { team?: string }) => principal.team
    const principal = { tenantId: 'acme', userId: 'ann', team: 'red' }
    expect(await keyOf({ id: 'chat', principal }, { owner })).toBe('["acme","red","agent","chat"]')
    expect(await keyOf({ id: 'chat', principal: { ...principal, team: undefined } }, { owner })).toBe(
      '["acme","","agent","chat"]',
    )
    const agent = build(['never'], [], { owner: () => 7 as never }).agent
    expect(await failure(() => agent.session({ principal }))).toMatchObject({
      code: 'session.principal',
      message: expect.stringContaining('owner(principal) returned 7'),
    })
  })

  it('does not ask what stands in `user` where the agent’s owner is asked', async () => {
    const owner = ({ user }: { user: { id: string } }) => user.id
    expect(await keyOf({ id: 'chat', principal: { user: { id: 'ann' } } }, { owner })).toBe('["","ann","agent","chat"]')
  })

  it('goes by the owner of the agent that delegates, where the sub-agent has none of its own', async () => {
    const keys: string[] = []
    const reads: Middleware = {
      name: 'reads',
      turn(ctx, next) {
        keys.push(ctx.sessionKey.owner)
        return next()
      },
    }
    const clerk = build(['Paid.'], [reads]).agent
    const office = tool('work', async (_, ctx) => (await delegate(ctx, clerk, 'pay'))?.text)
    const owner = ({ user }: { user: { id: string } }) => user.id
    const { agent } = build(oneCall, [reads], { tools: [office], owner })
    expect((await agent.session({ principal: { user: { id: 'ann' } } }).run('hi')).text).toBe('done')
    expect(keys).toEqual(['ann', 'ann'])
  })

  it('is never that of another session, whatever the ids', () => {
    const odd = ['', 'a', 'a","b', '"', '\\', ',', '["a"', 'a:b']
    const keys = odd.flatMap((tenant) =>
      odd.flatMap((owner) =>
        odd.flatMap((agent) =>
          odd.map((sessionId) => sessionKeyOf({ sessionKey: { tenant, owner, agent, sessionId } })),
        ),
      ),
    )
    expect(new Set(keys).size).toBe(odd.length ** 4)
  })
})

describe('approvals.secret', () => {
  it.each([[undefined], [''], [null], [7], [[]], [['new', '']]])(
    'is refused where it is %j: nothing would be signed',
    async (secret) => {
      const error = await failure(() => build([], [], { approvals: { secret: secret as string } }))
      expect(error).toMatchObject({ code: 'agent.options', message: expect.stringContaining('is its variable set?') })
    },
  )

  it('may be left out', () => {
    build([], [], { approvals: { expiresIn: 1 } })
  })
})
