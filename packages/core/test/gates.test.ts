import { describe, expect, it } from 'vitest'
import type { Middleware } from '../src/index.ts'
import { build, failure, gate, settled, tool } from './kit.ts'

type Hook = 'agent' | 'session'

/** A layer that logs its opening and its closing. */
const opener = (name: string, log: string[], scope: Hook = 'agent'): Middleware => ({
  name,
  async [scope](_: unknown, next: () => Promise<void>) {
    log.push(`${name}>`)
    try {
      await next()
    } finally {
      log.push(`${name}<`)
    }
  },
})

describe('agent and session scope', () => {
  it('stay open from init to dispose, and from the first run to close', async () => {
    const log: string[] = []
    const { agent } = build(['ok'], [opener('agent', log), opener('session', log, 'session')])
    await agent.init()
    const session = agent.session()
    expect(log).toEqual(['agent>'])
    await session.run('hi')
    expect(log).toEqual(['agent>', 'session>'])
    await session.close()
    await agent.dispose()
    expect(log).toEqual(['agent>', 'session>', 'session<', 'agent<'])
  })

  it('open by open() without a run, once for several calls', async () => {
    const log: string[] = []
    const session = build(['ok'], [opener('session', log, 'session')]).agent.session()
    await Promise.all([session.open(), session.open(), session.run('hi')])
    expect(log).toEqual(['session>'])
  })

  it.each(['agent', 'session'] as const)(
    'unwind what had opened when a later %s layer throws, and can be tried again',
    async (scope) => {
      const log: string[] = []
      const error = new Error('no connection')
      let tries = 0
      const flaky = {
        name: 'flaky',
        async [scope](_: unknown, next: () => Promise<void>) {
          if (++tries === 1) throw error
          await next()
        },
      }
      const { agent, model } = build(['ok'], [opener('a', log, scope), opener('b', log, scope), flaky])
      const session = agent.session()
      expect(await failure(session.run('hi'))).toBe(error)
      expect([log.splice(0), model.calls]).toEqual([['a>', 'b>', 'b<', 'a<'], 0])
      expect((await session.run('again')).text).toBe('ok')
      expect(log).toEqual(['a>', 'b>'])
    },
  )

  it('forget the tools that a failed init registered', async () => {
    let tries = 0
    const layers: Middleware[] = [
      {
        name: 'tools',
        async agent(ctx, next) {
          ctx.registerTool(tool('work'))
          await next()
        },
      },
      {
        name: 'flaky',
        async agent(_, next) {
          if (++tries === 1) throw new Error('once')
          await next()
        },
      },
    ]
    const { agent, model } = build(['ok'], layers)
    await failure(agent.init())
    await agent.run('hi')
    expect(model.requests[0]?.tools).toHaveLength(1)
  })

  it('swallowing the error of an inner agent layer does not open the agent', async () => {
    const layers: Middleware[] = [
      { name: 'swallower', agent: (_, next) => next().catch(() => {}) },
      {
        name: 'broken',
        async agent() {
          throw new Error('broken')
        },
      },
    ]
    expect((await failure(build([], layers).agent.init())).message).toBe('broken')
  })

  it('close in reverse at dispose(), which drains the runs and closes the sessions', async () => {
    const log: string[] = []
    const going = gate()
    const { agent } = build(
      [() => going.promise.then(() => 'ok')],
      [opener('agent', log), opener('session', log, 'session')],
    )
    const run = agent.session().run('hi')
    await agent.init()
    const disposed = agent.dispose()
    going.open()
    expect((await run).text).toBe('ok')
    await disposed
    expect(log).toEqual(['agent>', 'session>', 'session<', 'agent<'])
  })

  it('go on closing where one throws, and reject with the first error', async () => {
    const log: string[] = []
    const error = new Error('close failed')
    const bad: Middleware = {
      name: 'bad',
      async agent(_, next) {
        await next()
        throw error
      },
    }
    const { agent } = build([], [opener('a', log), bad, opener('b', log)])
    await agent.init()
    expect(await failure(agent.dispose())).toBe(error)
    expect(log).toEqual(['a>', 'b>', 'b<', 'a<'])
  })

  it('take dispose() twice, dispose() before init(), and close() twice', async () => {
    const log: string[] = []
    const { agent } = build(['ok'], [opener('agent', log), opener('session', log, 'session')])
    const session = agent.session()
    await session.run('hi')
    await Promise.all([session.close(), session.close()])
    await Promise.all([agent.dispose(), agent.dispose()])
    expect(log).toEqual(['agent>', 'session>', 'session<', 'agent<'])
    await build([], [opener('never', log)]).agent.dispose()
    expect(log).toHaveLength(4)
  })

  it('refuse runs after dispose() and after close() with typed errors', async () => {
    const { agent } = build(['ok'])
    const session = agent.session()
    await session.close()
    expect((await settled(session.run('hi'))).error).toMatchObject({ code: 'session.closed' })
    await agent.dispose()
    expect(await failure(agent.init())).toMatchObject({ code: 'agent.disposed' })
    expect(await failure(agent.session().run('hi'))).toMatchObject({ code: 'agent.disposed' })
    expect(await failure(agent.run('hi'))).toMatchObject({ code: 'agent.disposed' })
  })

  it('work with `await using`', async () => {
    const log: string[] = []
    const { agent } = build(['ok'], [opener('agent', log)])
    await agent.run('hi')
    await agent[Symbol.asyncDispose]()
    expect(log).toEqual(['agent>', 'agent<'])
  })

  it('close the session of agent.run() after it, also when the run failed', async () => {
    const log: string[] = []
    const { agent } = build(['ok', new Error('down')], [opener('session', log, 'session')])
    await agent.run('hi')
    await settled(agent.run('hi'))
    await agent.dispose()
    expect([...log].sort()).toEqual(['session<', 'session<', 'session>', 'session>'])
  })

  it('run init() once for many runs at once', async () => {
    const log: string[] = []
    const { agent } = build(
      Array.from({ length: 20 }, () => 'ok'),
      [opener('agent', log)],
    )
    await Promise.all(Array.from({ length: 20 }, () => agent.run('hi')))
    expect(log).toEqual(['agent>'])
  })
})
