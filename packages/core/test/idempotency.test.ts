import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { RunKeys } from '../src/session/run-keys.ts'
import { build, failure, gate, oneCall, settled, tool } from './kit.ts'

const key = { idempotencyKey: 'k' }
const ada = { tenantId: 'acme', userId: 'ada' }

describe('a run with an idempotency key', () => {
  it('is found through every object of its session', async () => {
    const { agent, model } = build(['a', 'b'])
    const [one, two] = [agent.session({ id: 'x', principal: ada }), agent.session({ id: 'x', principal: ada })]
    const first = one.run('hi', key)
    expect(two.run('hi', key)).toBe(first)
    await first
    expect([(await two.run('hi', key)).text, model.calls]).toEqual(['a', 1])
  })

  it('is another one for another tenant, user, session or key', async () => {
    const { agent, model } = build(['a', 'b', 'c', 'd', 'e', 'f'])
    const run = (id: string, principal: unknown, idempotencyKey: string) =>
      agent.session({ id, principal }).run('hi', { idempotencyKey })
    await run('x', ada, 'k')
    await run('x', { ...ada, tenantId: 'other' }, 'k')
    await run('x', { ...ada, userId: 'bob' }, 'k')
    await run('x', { tenantId: 'acme', user: 'eve' }, 'k')
    await run('y', ada, 'k')
    await run('x', ada, 'l')
    expect(model.calls).toBe(6)
  })

  it('is refused for other tools of the client, and for another form of the answer', async () => {
    const { agent } = build(['{"a":1}', 'never'])
    const session = agent.session({ id: 'x' })
    const tool = (description: string) => ({ name: 'locate', description, jsonSchema: { type: 'object' } })
    const form = (name: string) => ({ schema: z.object({ [name]: z.number() }), strategy: 'native' as const })
    const options = { ...key, output: form('a'), clientTools: [tool('Where')] }
    const first = session.run('hi', options)
    expect(session.run('hi', { ...options, clientTools: [tool('Where')], output: form('a') })).toBe(first)
    const reused = { code: 'run.key_reused' }
    await expect(session.run('hi', { ...options, clientTools: [tool('Who')] })).rejects.toMatchObject(reused)
    await expect(session.run('hi', { ...options, output: form('b') })).rejects.toMatchObject(reused)
    await expect(session.run('hi', key)).rejects.toMatchObject(reused)
  })

  it('is refused for another input or other decisions, also while it runs, and stays known for its own', async () => {
    const going = gate()
    const { agent, model } = build([() => going.promise.then(() => 'a'), 'b'])
    const session = agent.session({ id: 'x' })
    const first = session.run('hi', key)
    const reused = { code: 'run.key_reused', details: { sessionId: 'x' } }
    expect(await failure(session.run('ho', key))).toMatchObject(reused)
    expect(await failure(agent.session({ id: 'x' }).resume({ c1: { approve: true } }, key))).toMatchObject(reused)
    going.open()
    await first
    expect(await failure(session.run('ho', key))).toMatchObject(reused)
    expect(session.run([{ role: 'user', content: 'hi' }], key)).toBe(first)
    expect([(await session.run('hi', key)).text, model.calls]).toEqual(['a', 1])
  })

  it('is not known where it was refused: busy, with wrong options, closed', async () => {
    const going = gate()
    const { agent } = build([() => going.promise.then(() => 'first'), 'second'])
    const [session, other] = [agent.session({ id: 'x' }), agent.session({ id: 'x' })]
    const first = session.run('1')
    expect(await failure(session.run('2', key))).toMatchObject({ code: 'session.busy' })
    going.open()
    await first
    expect(await failure(session.run('2', { ...key, output: 7 as never }))).toBeDefined()
    await session.close()
    expect(await failure(session.run('2', key))).toMatchObject({ code: 'session.closed' })
    expect((await other.run('2', key)).text).toBe('second')
  })

  it('is not known where it failed before a chunk came', async () => {
    const { agent } = build([new Error('down'), 'up'])
    const session = agent.session()
    expect((await failure(session.run('hi', key))).message).toBe('down')
    expect((await session.run('hi', key)).text).toBe('up')
  })

  it('stays known where it failed after a chunk', async () => {
    const { agent, model } = build([{ chunks: ['Half'], error: new Error('cut') }, 'whole'])
    const session = agent.session()
    const first = await failure(session.run('hi', key))
    expect([await failure(session.run('hi', key)), model.calls]).toEqual([first, 1])
  })

  it('stays known where it failed after a tool had begun, and its side effect comes once', async () => {
    let paid = 0
    const { agent } = build([oneCall[0] as never, new Error('down'), 'again'], [], {
      tools: [tool('work', () => ++paid)],
    })
    const session = agent.session()
    await failure(session.run('hi', key))
    await settled(session.run('hi', key))
    expect(paid).toBe(1)
  })

  it('is forgotten after a thousand others, the oldest first, and never while it runs', () => {
    const keys = new RunKeys(2)
    const session = { key: { tenant: '', owner: '', agent: 'agent', sessionId: 'x' } } as never
    for (const name of ['a', 'b', 'c', 'd']) {
      keys.remember(session, name, { run: name as never, fingerprint: '' })
      if (name !== 'a') keys.settle(session, name, true)
    }
    expect(['a', 'b', 'c', 'd'].filter((name) => keys.find(session, name) !== undefined)).toEqual(['a', 'd'])
  })

  it('keeps its result and its partial answer, and not its conversation', async () => {
    const { agent } = build(['a', 'b'])
    const session = agent.session()
    const first = session.run('1', key)
    await first
    await session.run('2')
    expect(first.partial).toMatchObject({ text: 'a', messages: [{ content: '1' }, { content: 'a' }] })
  })
})
