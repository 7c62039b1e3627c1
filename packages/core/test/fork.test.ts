import { describe, expect, it } from 'vitest'
import type { Middleware } from '../src/index.ts'
import { Savepoints } from '../src/session/scope/savepoints.ts'
import { build, failure, tool, traffic } from './kit.ts'

const counting: Middleware = {
  name: 'counting',
  state: {
    n: { default: 0, reducer: (a: number, b: number) => a + b },
    list: { default: () => [] as string[], reducer: (a: string[], b: string[]) => [...a, ...b], persist: false },
  },
  async turn(ctx, next) {
    ctx.state.n = 1
    ctx.state.list = [`turn ${ctx.turnIndex}`]
    await next()
  },
}
const contents = (session: { history: readonly { content: unknown }[] }) =>
  session.history.map(({ content }) => content)

describe('session.fork()', () => {
  it('begins with the history and the state of the turn, and leaves its origin alone', async () => {
    const { agent } = build(['A', 'B', 'other B'], [counting])
    const session = agent.session({ principal: { tenantId: 'acme' } })
    const { turnId } = await session.run('one')
    await session.run('two')
    const fork = session.fork({ at: turnId })
    expect([contents(fork), fork.state]).toEqual([['one', 'A'], { n: 1, list: ['turn 0'] }])
    const { state } = await fork.run('two again')
    expect([contents(fork), state]).toEqual([
      ['one', 'A', 'two again', 'other B'],
      { n: 2, list: ['turn 0', 'turn 1'] },
    ])
    expect([contents(session), session.state]).toMatchObject([['one', 'A', 'two', 'B'], { n: 2 }])
  })

  it('is a session of its own: id, principal, turn ids, and both may run at once', async () => {
    const { agent } = build([{ text: 'A' }, { text: 'B' }, { text: 'C' }])
    const session = agent.session({ principal: { tenantId: 'acme' } })
    const { turnId } = await session.run('one')
    const fork = session.fork({ at: turnId })
    const [a, b] = await Promise.all([session.run('two'), fork.run('two')])
    expect(new Set([turnId, a.turnId, b.turnId]).size).toBe(3)
    expect([a.sessionId === b.sessionId, session.fork({ id: 'mine' }).id]).toEqual([false, 'mine'])
  })

  it('without a turn begins with what there is now', async () => {
    const { agent } = build(['A'], [counting])
    const session = agent.session()
    expect(contents(session.fork())).toEqual([])
    await session.run('one')
    expect(contents(session.fork())).toEqual(['one', 'A'])
  })

  it('shares nothing: what the fork is given to change stays its own', async () => {
    const { agent } = build(['A'])
    const session = agent.session({ metadata: { a: 1 } })
    await session.run([{ role: 'user', content: [{ type: 'text', text: 'one' }] }])
    const fork = session.fork()
    expect(fork.history[0]?.content).not.toBe(session.history[0]?.content)
    expect(fork.history[0]).toEqual(session.history[0])
  })

  it('closes what waits as not approved, so that an approval is not used in two places', async () => {
    const { agent } = build([{ toolCalls: [{ name: 'pay', callId: 'c1' }] }, 'Paid.'], [], {
      tools: [tool('pay', () => 1, { requireApproval: true })],
    })
    const session = agent.session()
    await session.run('pay')
    const fork = session.fork()
    expect([fork.pending, traffic(fork.history).results, session.pending.length]).toEqual([[], ['c1'], 1])
  })

  it('knows turns that have ended here alone: others are named in the error', async () => {
    const { agent } = build([{ toolCalls: [{ name: 'pay', callId: 'c1' }] }], [], {
      tools: [tool('pay', () => 1, { requireApproval: true })],
    })
    const session = agent.session()
    const { turnId } = await session.run('pay')
    for (const at of [turnId, 'nothing']) {
      const error = await failure(async () => session.fork({ at }))
      expect([error.code, error.message]).toEqual(['session.unknown_turn', expect.stringContaining(at)])
    }
  })

  it('at a turn that was resumed has the decided calls', async () => {
    const { agent } = build([{ toolCalls: [{ name: 'pay', callId: 'c1' }] }, 'Paid.', 'Next.'], [counting], {
      tools: [tool('pay', () => 'ok', { requireApproval: true })],
    })
    const session = agent.session()
    await session.run('pay')
    const { turnId } = await session.resume({ c1: { approve: true } })
    await session.run('next')
    const fork = session.fork({ at: turnId })
    expect([traffic(fork.history), fork.history.length, fork.state]).toMatchObject([{ results: ['c1'] }, 4, { n: 2 }])
  })

  it('finds each of the last hundred turns as it was, and none before', async () => {
    const changing: Middleware = {
      name: 'changing',
      state: { seldom: { default: -1 }, often: { default: -1 }, never: { default: 'same' } },
      async turn(ctx, next) {
        if (ctx.turnIndex % 7 === 0) ctx.state.seldom = ctx.turnIndex
        if (ctx.turnIndex % 2 === 0) ctx.state.often = { at: ctx.turnIndex }
        await next()
      },
    }
    const { agent } = build(Array(250).fill('ok'), [changing, counting])
    const session = agent.session()
    const turns: { turnId: string; state: object }[] = []
    for (let i = 0; i < 250; i++) turns.push(await session.run('hi'))
    for (const { turnId, state } of turns.slice(-100)) expect(session.fork({ at: turnId }).state).toEqual(state)
    const error = await failure(() => session.fork({ at: turns[149]?.turnId as string }))
    expect([error.code, error.message]).toEqual([
      'session.unknown_turn',
      expect.stringContaining('keeps its last 100 turns'),
    ])
  })

  it('shares with the session what a turn left as it was', () => {
    const marks = new Savepoints()
    const big = { as: 'it was' }
    for (let i = 0; i < 300; i++) marks.add({ turnId: `t${i}`, turnCount: i, length: i }, { n: i >> 4, big })
    expect(marks.at('t299')).toEqual({ turnId: 't299', turnCount: 299, length: 299, state: { n: 18, big } })
    expect([marks.at('t200')?.state.n, marks.at('t200')?.state.big === big]).toEqual([12, true])
    expect([marks.at('t199'), marks.at('other')]).toEqual([undefined, undefined])
  })
})
