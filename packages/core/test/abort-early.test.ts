import { describe, expect, it } from 'vitest'
import { manualClock } from '../../testing/src/index.ts'
import { aroundRun, provideTurns } from '../src/context.ts'
import { type AroundRun, defineMiddleware, type FindTurn } from '../src/index.ts'
import { build, rest, settled } from './kit.ts'

/** What hangs the first time that it is asked, until it is let go. */
function hangsOnce() {
  let go!: () => void
  const hung = new Promise<void>((resolve) => (go = resolve))
  let asked = 0
  return { wait: async () => (asked++ === 0 ? hung : undefined), go, asked: () => asked }
}

const wrapping = (wrapper: AroundRun, find: FindTurn = () => undefined) =>
  defineMiddleware({
    name: 'wraps',
    session(ctx, next) {
      aroundRun(ctx, wrapper)
      provideTurns(ctx, find)
      return next()
    },
  })

describe('a run that waits behind another one', () => {
  it('leaves the queue when it is aborted, and the one behind it still waits for the first', async () => {
    const { wait, go } = hangsOnce()
    const { agent, model } = build(['one', 'three'], [], { onBusy: 'queue' })
    agent.use('turn', async (_, next) => {
      await wait()
      await next()
    })
    const session = agent.session()
    const [first, second, third] = [session.run('1'), session.run('2'), session.run('3')]
    await rest()
    second.abort('not needed')
    expect((await settled(second)).error).toMatchObject({ name: 'AbortError', reason: 'not needed' })
    await rest()
    expect(model.calls).toBe(0)
    go()
    expect([(await first).text, (await third).text]).toEqual(['one', 'three'])
    expect(session.history.map(({ content }) => content)).toEqual(['1', 'one', '3', 'three'])
  })
})

describe('an opening that several wait for', () => {
  it('goes on for the others when one of them is aborted', async () => {
    const { wait, go, asked } = hangsOnce()
    const { agent } = build(['ok'])
    agent.use('agent', async (_, next) => {
      await wait()
      await next()
    })
    const [one, other] = [agent.session().run('1'), agent.session().run('2')]
    await rest()
    one.abort()
    expect((await settled(one)).error).toMatchObject({ name: 'AbortError' })
    go()
    expect((await other).text).toBe('ok')
    expect(asked()).toBe(1)
  })

  it('closes what is open at once when the last one is aborted, and refuses what comes late', async () => {
    const { wait, go } = hangsOnce()
    const log: string[] = []
    const { agent } = build(['ok'])
    agent.use('session', async (_, next) => {
      log.push('open')
      await next().finally(() => log.push('close'))
    })
    agent.use('session', async (ctx, next) => {
      await wait()
      try {
        ctx.restore({ history: [], state: {} })
      } catch (error) {
        log.push((error as { code: string }).code)
      }
      await next()
    })
    const session = agent.session()
    const run = session.run('1')
    await rest()
    run.abort()
    await settled(run)
    await rest()
    expect(log).toEqual(['open', 'close'])
    expect((await session.run('2')).text).toBe('ok')
    go()
    await rest()
    expect([log, session.history.length]).toEqual([['open', 'close', 'open', 'layer.abandoned'], 2])
  })
})

describe('a wrapper that hangs', () => {
  it('is told by its signal, and its next() rejects, so that it gives back what it takes all the same', async () => {
    const { wait, go } = hangsOnce()
    const log: unknown[] = []
    const { agent } = build(
      ['ok'],
      [
        wrapping(async ({ signal }, next) => {
          await wait()
          if (signal.aborted) log.push((signal.reason as Error).name)
          try {
            return await next()
          } finally {
            log.push('released')
          }
        }),
      ],
    )
    const session = agent.session()
    const run = session.run('1')
    await rest()
    run.abort('enough')
    await settled(run)
    expect(log).toEqual([])
    go()
    await rest()
    expect(log).toEqual(['AbortError', 'released'])
    expect((await session.run('2')).text).toBe('ok')
    expect(log.slice(2)).toEqual(['released'])
  })

  it('lets go of what the wrapper around it holds at once', async () => {
    const { wait } = hangsOnce()
    const log: string[] = []
    const outer = wrapping((_, next) => next().finally(() => log.push('released')))
    const inner = defineMiddleware({
      ...wrapping(async (_, next) => {
        await wait()
        return next()
      }),
      name: 'hangs',
    })
    const { agent } = build(['ok'], [outer, inner])
    const run = agent.session().run('1')
    await rest()
    run.abort()
    await settled(run)
    await rest()
    expect(log).toEqual(['released'])
  })

  it('holds up no rewind() that session.abort() ends', async () => {
    const { wait } = hangsOnce()
    let armed = false
    const hangs = wrapping(async (_, next) => {
      if (armed) await wait()
      return next()
    })
    const { agent } = build(['one', 'two'], [hangs])
    const session = agent.session()
    const { turnId } = await session.run('1')
    armed = true
    const rewound = session.rewind({ to: turnId })
    rewound.catch(() => {})
    await rest()
    session.abort('enough')
    await expect(rewound).rejects.toMatchObject({ name: 'AbortError' })
    armed = false
    expect((await session.run('2')).text).toBe('two')
  })

  it('is waited for by a rewind() that it stores, which is too late to abort', async () => {
    const { wait, go } = hangsOnce()
    const hangs = wrapping(async ({ kind }, next) => {
      const turn = await next()
      if (kind === 'rewind') await wait()
      return turn
    })
    const { agent } = build(['one', 'two'], [hangs])
    const session = agent.session()
    const { turnId } = await session.run('1')
    await session.run('2')
    const rewound = session.rewind({ to: turnId })
    await rest()
    session.abort('enough')
    go()
    await rewound
    expect(session.history.map(({ content }) => content)).toEqual(['1', 'one'])
  })

  it('holds up no fork whose run is aborted while its beginning is read', async () => {
    const { wait } = hangsOnce()
    const hangs = wrapping(
      (_, next) => next(),
      async () => void (await wait()),
    )
    const { agent } = build(['one'], [hangs])
    const session = agent.session()
    await session.run('1')
    const fork = session.fork({ at: 'of another process' })
    const run = fork.run('2')
    await rest()
    run.abort()
    expect((await settled(run)).error).toMatchObject({ name: 'AbortError' })
    expect((await settled(fork.run('3'))).error).toMatchObject({ code: 'session.unknown_turn' })
  })
})

describe('dispose() with a timeout', () => {
  it('waits for no layer that never closes, and says so', async () => {
    const clock = manualClock()
    const { agent, log } = build(['ok'], [], { clock })
    agent.use('agent', async (_, next) => {
      await next()
      await new Promise(() => {})
    })
    await agent.run('1')
    let over = false
    agent.dispose({ timeout: 1000 }).then(() => (over = true))
    await clock.advance(1000)
    expect(over).toBe(false)
    await clock.advance(6000)
    expect([over, log.at(-1)?.message]).toEqual([true, expect.stringContaining('dispose() of the agent "agent"')])
  })

  it('closes a session that opens after it', async () => {
    const { wait, go } = hangsOnce()
    const log: string[] = []
    const { agent } = build(['ok'])
    agent.use('session', async (_, next) => {
      await wait()
      await next().finally(() => log.push('close'))
    })
    const opening = agent.session().open()
    opening.catch(() => {})
    await rest()
    await agent.dispose({ timeout: 0 })
    go()
    await expect(opening).rejects.toMatchObject({ code: 'agent.disposed' })
    expect(log).toEqual(['close'])
  })
})
