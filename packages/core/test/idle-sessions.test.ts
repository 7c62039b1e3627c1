import { describe, expect, it } from 'vitest'
import { manualClock } from '../../testing/src/index.ts'
import type { AgentOptions, Middleware } from '../src/index.ts'
import { build, failure, gate, rest } from './kit.ts'

const minute = 60_000

/** A layer that notes when it opens and closes. */
function noting(log: string[]): Middleware {
  return {
    name: 'noting',
    async session(ctx, next) {
      log.push(`open ${ctx.history.length}`)
      await next()
      log.push('close')
    },
  }
}

function idle(options: Partial<AgentOptions> = {}) {
  const log: string[] = []
  const clock = manualClock()
  const built = build(['a', 'b', 'c'], [noting(log)], { clock, ...options })
  return { ...built, log, clock, session: built.agent.session() }
}

describe('an idle session', () => {
  it('closes its layers after 15 minutes, and opens them again at its next run', async () => {
    const { session, clock, log } = idle()
    await session.run('1')
    await clock.advance(15 * minute - 1)
    expect(log).toEqual(['open 0'])
    await clock.advance(1)
    expect(log).toEqual(['open 0', 'close'])
    expect((await session.run('2')).text).toBe('b')
    expect([log, session.history.length]).toEqual([['open 0', 'close', 'open 2'], 4])
  })

  it('is not idle while a run lasts, or work is deferred', async () => {
    const [answered, stored] = [gate<string>(), gate()]
    const { agent, log, clock } = idle()
    agent.use('turn', async (ctx, next) => {
      await next()
      ctx.defer(stored.promise)
    })
    agent.use('model', async (ctx) => ctx.skipCall({ text: await answered.promise }))
    const run = agent.session().run('1')
    await clock.advance(20 * minute)
    answered.open('ok')
    await clock.advance(20 * minute)
    expect(log).toEqual(['open 0'])
    stored.open()
    await run
    await clock.advance(15 * minute)
    expect(log).toEqual(['open 0', 'close'])
  })

  it('closes where it was opened and never run, and opens again at open()', async () => {
    const { session, clock, log } = idle({ sessionIdleTimeout: minute })
    await session.open()
    await clock.advance(minute)
    await session.open()
    expect(log).toEqual(['open 0', 'close', 'open 0'])
    expect(clock.pending).toBe(1)
  })

  it('lets a run that comes while it closes wait, and open it again', async () => {
    const closing = gate()
    const { agent, log, clock } = idle()
    agent.use('session', async (_, next) => {
      await next()
      await closing.promise
    })
    const session = agent.session()
    await session.run('1')
    await clock.advance(15 * minute)
    const run = session.run('2')
    await rest()
    expect(log).toEqual(['open 0'])
    closing.open()
    await run
    expect(log).toEqual(['open 0', 'close', 'open 2'])
  })

  it('is closed for good by close() alone', async () => {
    const { session, clock, log } = idle()
    await session.run('1')
    await clock.advance(15 * minute)
    await session.close()
    expect(await failure(session.run('2'))).toMatchObject({ code: 'session.closed' })
    expect(await failure(session.open())).toMatchObject({ code: 'session.closed' })
    expect([log, clock.pending]).toEqual([['open 0', 'close'], 0])
  })

  it('stays open where sessionIdleTimeout is false, and sets no timer without session layers', async () => {
    const open = idle({ sessionIdleTimeout: false })
    await open.session.run('1')
    const bare = build(['a'], [], { clock: open.clock })
    await bare.agent.session().run('1')
    await open.clock.advance(1e9)
    expect([open.log, open.clock.pending]).toEqual([['open 0'], 0])
    expect(() => build([], [], { sessionIdleTimeout: -1 })).toThrow(expect.objectContaining({ code: 'agent.options' }))
  })

  it('tells its end and its new beginning to observers', async () => {
    const { agent, session, clock } = idle()
    const events: string[] = []
    for (const name of ['session:start', 'session:end'] as const) agent.on(name, ({ type }) => events.push(type))
    await session.run('1')
    await clock.advance(15 * minute)
    await session.run('2')
    expect(events).toEqual(['session:start', 'session:end', 'session:start'])
  })

  it('says in the log what failed on its way out, and opens again', async () => {
    const clock = manualClock()
    const { agent, log } = build(['a', 'b'], [], { clock })
    agent.use('session', async (_, next) => {
      await next()
      throw new Error('not flushed')
    })
    const session = agent.session({ id: 'x' })
    await session.run('1')
    await clock.advance(15 * minute)
    expect(log.map(({ message }) => message)).toEqual([
      'A layer of the idle session "x" failed while closing: not flushed',
    ])
    expect((await session.run('2')).text).toBe('b')
  })
})

describe('await using', () => {
  it('closes the session at the end of its block', async () => {
    const { agent, log } = idle()
    {
      await using session = agent.session()
      await session.run('1')
    }
    expect(log).toEqual(['open 0', 'close'])
  })
})

describe('dispose()', () => {
  it('waits for runs, and closes sessions that nobody has closed', async () => {
    const answered = gate<string>()
    const { agent, log, session } = idle()
    agent.use('model', async (ctx) => ctx.skipCall({ text: await answered.promise }))
    const run = session.run('1')
    let disposed = false
    const disposing = agent.dispose().then(() => (disposed = true))
    await rest()
    expect(disposed).toBe(false)
    answered.open('ok')
    expect((await run).text).toBe('ok')
    await disposing
    expect(log).toEqual(['open 0', 'close'])
  })

  it('aborts after its timeout what still runs, a queued run and one whose reader has stopped among them', async () => {
    const clock = manualClock()
    const { agent } = build([{ chunks: ['a'], stall: true }, { chunks: ['a', 'b', 'c'] }], [], {
      clock,
      onBusy: 'queue',
    })
    const session = agent.session()
    const runs = [session.run('1'), session.run('2'), agent.session().run('3')]
    const reader = runs[2]?.[Symbol.asyncIterator]()
    for (let i = 0; i < 3; i++) await reader?.next()
    const disposing = agent.dispose({ timeout: 5000 })
    await clock.advance(5000)
    await disposing
    const names = await Promise.all(runs.map(async (run) => (await failure(run)).name))
    expect([names, clock.pending]).toEqual([['AbortError', 'AbortError', 'AbortError'], 0])
  })

  it('is in time where all runs end before, and takes a timeout later on', async () => {
    const clock = manualClock()
    const { agent } = build(['a', { chunks: ['a'], stall: true }], [], { clock })
    await agent.run('1')
    const run = agent.run('2')
    const disposing = agent.dispose()
    await clock.advance(1e6)
    void agent.dispose({ timeout: 10 })
    await clock.advance(10)
    await disposing
    expect((await failure(run)).message).toContain('the agent was disposed, and the run took longer than 10 ms')
    expect(await failure(agent.dispose({ timeout: -1 }))).toMatchObject({ code: 'agent.options' })
  })
})
