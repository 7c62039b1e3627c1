import { describe, expect, it } from 'vitest'
import { persist } from '../../memory/src/index.ts'
import { memoryStore } from '../../store/src/index.ts'
import { build, failure, gate, read, rest, settled } from './kit.ts'

const logged = (log: { message: string }[]) => log.map(({ message }) => message).filter((m) => m.startsWith('A run'))

describe('a failed run that nobody awaits', () => {
  it('is told once in the log, by its class and code alone', async () => {
    const { agent, log } = build([new Error('wrong key sk-123')])
    agent.run('hi', { session: { id: 'x' } })
    await rest()
    await rest()
    expect(logged(log)).toEqual([
      'A run of the session "x" failed (Error), and nobody awaits it. Await it, or listen with agent.on(\'error\').',
    ])
    expect(JSON.stringify(log)).not.toContain('sk-123')
    expect(log[0]?.details).toMatchObject({ sessionId: 'x', failure: 'Error' })
  })

  it('is told with its message and cause, without what may be a secret', async () => {
    const cause = new Error('connect ECONNREFUSED postgres://ann:hunter@db/x, password: swordfish, key sk-live-1')
    const { agent, log } = build([new TypeError('The store said no.', { cause })])
    agent.run('hi', { session: { id: 'x' } })
    await rest()
    await rest()
    expect(log.at(-1)?.details).toMatchObject({
      message: 'The store said no.',
      cause: 'Error: connect ECONNREFUSED … password: … key …',
    })
  })

  it.each(['name', 'cause', 'message', 'partial'])(
    'is told where its error has a "%s" that cannot be read',
    async (field) => {
      const get = () => {
        throw new Error('unreadable')
      }
      const thrown = Object.defineProperty(new Error('down'), field, { get })
      const { agent, log } = build([], [{ name: 'down', model: () => Promise.reject(thrown) }])
      agent.run('hi', { session: { id: 'x' } })
      await rest()
      await rest()
      expect(logged(log)).toHaveLength(1)
      expect((await settled(agent.run('hi'))).error === (thrown as unknown)).toBe(true)
    },
  )

  it('is told where it was refused', async () => {
    const { agent, log } = build(['a', 'b'])
    const session = agent.session({ id: 'x' })
    const first = session.run('1')
    session.run('2')
    await first
    await rest()
    expect(logged(log)).toEqual([expect.stringContaining('failed (session.busy)')])
  })

  it('is not told where somebody awaits it, reads it, or aborted it', async () => {
    const { agent, log } = build([new Error('1'), new Error('2'), { chunks: ['a'], stall: true }])
    await failure(agent.run('1'))
    await read(agent.run('2'))
    agent.run('3').abort()
    await rest()
    await rest()
    expect(logged(log)).toEqual([])
  })
})

describe('a session that is stored', () => {
  const stored = async () => {
    const store = memoryStore()
    await build(['a'], [persist({ store })])
      .agent.session({ id: 'x' })
      .run('hi')
    return build(['b'], [persist({ store })]).agent.session({ id: 'x' })
  }

  it('refuses to be read before it was opened, so that nobody takes it for an empty one', async () => {
    const session = await stored()
    const reads = [
      () => session.history,
      () => session.pending,
      () => session.state,
      () => session.snapshot(),
      () => session.fork(),
    ]
    for (const look of reads)
      expect(look).toThrow(
        expect.objectContaining({ code: 'session.not_open', details: { sessionId: 'x', layer: 'memory:persist' } }),
      )
    await session.open()
    expect([session.history.length, session.pending, session.fork().history.length]).toEqual([2, [], 2])
  })

  it('can be read after restore(), and where no layer restores it', async () => {
    const session = await stored()
    session.restore({ history: [], state: {} })
    expect(session.history).toHaveLength(0)
    expect(build([]).agent.session({ id: 'x' }).history).toHaveLength(0)
  })

  it('can be read at once where its id is a new random one, under which nothing is stored', async () => {
    const { agent } = build(['a'], [persist()])
    expect(agent.session().history).toHaveLength(0)
    expect(() => build(['a'], [persist()], { ids: () => 'job-7' }).agent.session().history).toThrow('not been opened')
  })
})

describe('restore() in a session that queues', () => {
  it('is refused with an error while a turn runs', async () => {
    const going = gate()
    const session = build([() => going.promise.then(() => 'a')], [], { onBusy: 'queue' }).agent.session()
    const run = session.run('1')
    expect(() => session.restore({ history: [], state: {} })).toThrow(expect.objectContaining({ code: 'session.busy' }))
    going.open()
    await settled(run)
  })
})
