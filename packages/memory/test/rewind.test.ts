import { Agent, defineMiddleware } from '@allium/core'
import { memoryStore } from '@allium/store'
import { scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { persist } from '../src/index.ts'

const who = { id: 'chat', principal: { tenantId: 'acme', userId: 'ann' } }
const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }
const counting = defineMiddleware({
  name: 'counting',
  state: { n: { default: 0, reducer: (a: number, b: number) => a + b } },
  turn(ctx, next) {
    ctx.state.n = 1
    return next()
  },
})
const pay = { name: 'pay', description: 'Pays', jsonSchema: {}, requireApproval: true, execute: () => 'paid' }
const textsOf = (messages: readonly { content: unknown }[]) => messages.map(({ content }) => content)

/** Three turns that are stored, and the same session as another process opens it. */
async function world(store = memoryStore()) {
  const agentOf = (...answers: Parameters<typeof scriptedModel>[0][number][]) =>
    new Agent({ model: scriptedModel(answers), tools: [pay] }).use(persist({ store })).use(counting)
  const first = agentOf('A', 'B', 'C', 'D').session(who)
  const turns: string[] = []
  for (const input of ['a', 'b', 'c']) turns.push((await first.run(input)).turnId)
  const [one = '', two = '', three = ''] = turns
  return { store, agentOf, first, one, two, three, stored: async () => textsOf((await store.load(key))?.history ?? []) }
}

describe('session.rewind()', () => {
  it('goes back to a turn, here and in the store', async () => {
    const { first, one, stored } = await world()
    await first.rewind({ to: one })
    expect([textsOf(first.history), first.state.n, await stored()]).toEqual([['a', 'A'], 1, ['a', 'A']])
    await first.run('d')
    expect([await stored(), first.state.n]).toEqual([['a', 'A', 'd', 'D'], 2])
  })

  it('goes back to a turn of another process, in a session that is opened for it', async () => {
    const { agentOf, two, stored } = await world()
    const later = agentOf('E').session(who)
    await later.rewind({ to: two })
    expect([textsOf(later.history), later.state.n, await stored()]).toEqual([
      ['a', 'A', 'b', 'B'],
      2,
      ['a', 'A', 'b', 'B'],
    ])
    await later.run('e')
    const other = agentOf('F').session(who)
    await other.run('f')
    expect(textsOf(other.history).join('')).toBe('aAbBeEfF')
    expect(other.state.n).toBe(4)
  })

  it('is refused for a turn that was rewound, that waits, or that nobody knows, and changes nothing', async () => {
    const { agentOf, one, three, stored } = await world()
    const later = agentOf({ toolCalls: [{ name: 'pay' }] }).session(who)
    await later.rewind({ to: one })
    const { turnId } = await later.run('pay')
    for (const to of [three, turnId, 'nobody']) {
      await expect(later.rewind({ to })).rejects.toMatchObject({ code: 'session.unknown_turn' })
      await expect(agentOf().session(who).rewind({ to })).rejects.toMatchObject({ code: 'session.unknown_turn' })
    }
    expect([later.pending.length, (await stored()).length]).toEqual([1, 4])
    await later.rewind({ to: one })
    expect([later.pending, await stored()]).toEqual([[], ['a', 'A']])
  })

  it('refuses runs while it lasts, and is refused while one runs', async () => {
    const { first, one } = await world()
    const rewinding = first.rewind({ to: one })
    await expect(first.run('x')).rejects.toMatchObject({ code: 'session.busy' })
    await rewinding
    const run = first.run('d')
    await expect(first.rewind({ to: one })).rejects.toMatchObject({ code: 'session.busy' })
    expect((await run).text).toBe('D')
  })

  it('puts everything back where the store does not take it', async () => {
    const { store, first, one, three } = await world()
    const { append } = store
    store.append = () => Promise.reject(new Error('no room'))
    await expect(first.rewind({ to: one })).rejects.toThrow('no room')
    expect([textsOf(first.history).join(''), first.state.n]).toEqual(['aAbBcC', 3])
    store.append = append
    await first.run('d')
    expect(textsOf(first.fork({ at: three }).history).join('')).toBe('aAbBcC')
    await first.rewind({ to: one })
    expect(textsOf(first.history)).toEqual(['a', 'A'])
  })

  it('needs no store', async () => {
    const session = new Agent({ model: scriptedModel(['A', 'B', 'C']) }).use(counting).session()
    const [one, two] = [await session.run('a'), await session.run('b')]
    await session.rewind({ to: one.turnId })
    expect([textsOf(session.history), session.state.n]).toEqual([['a', 'A'], 1])
    await expect(session.rewind({ to: two.turnId })).rejects.toMatchObject({ code: 'session.unknown_turn' })
    expect((await session.run('c')).turnId).not.toBe(two.turnId)
  })
})

describe('session.fork({ at })', () => {
  it('takes a turn of another process, with the state that stood then', async () => {
    const { agentOf, two } = await world()
    const later = agentOf('E').session(who)
    await later.open()
    const fork = later.fork({ at: two, id: 'fork' })
    expect(() => fork.history).toThrow(/read from the store when it opens/)
    await fork.open()
    expect([textsOf(fork.history).join(''), fork.state.n]).toEqual(['aAbB', 2])
    await fork.run('e')
    expect([textsOf(fork.history).join(''), fork.state.n, textsOf(later.history).join('')]).toEqual([
      'aAbBeE',
      3,
      'aAbBcC',
    ])
  })

  it('fails as it opens where nobody knows the turn', async () => {
    const { agentOf } = await world()
    const later = agentOf('E').session(who)
    await later.open()
    await expect(later.fork({ at: 'nobody' }).run('hi')).rejects.toMatchObject({ code: 'session.unknown_turn' })
  })
})
