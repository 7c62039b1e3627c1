import type { Middleware } from '@allium/core'
import { manualClock } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { type ConcurrencyOptions, concurrency } from '../src/index.ts'
import { calling, scene } from './scene.ts'

/** An agent whose model calls end when they are told to. */
function gate(options: ConcurrencyOptions, layers: readonly Middleware[] = []) {
  const clock = manualClock()
  const started: unknown[] = []
  const ends: (() => void)[] = []
  const step = async ({ principal }: { principal: unknown }) => {
    started.push((principal as { tenantId?: string } | undefined)?.tenantId)
    await new Promise<void>((resolve) => ends.push(resolve))
    return 'Done.'
  }
  const steps = Array.from({ length: 50 }, () => step as never)
  const { agent } = scene(steps, [...layers, concurrency(options) as Middleware], { clock })
  const run = (tenantId?: string) => agent.run('hi', { session: { principal: { tenantId } } })
  const finish = async () => {
    ends.shift()?.()
    await clock.advance(0)
  }
  return { agent, run, started, finish, clock }
}

describe('guard.concurrency', () => {
  it('lets so many model calls run at once, and the next one when one has ended', async () => {
    const { run, started, finish, clock } = gate({ limit: 2 })
    const runs = [run(), run(), run()]
    await clock.advance(500)
    expect(started.length).toBe(2)
    await finish()
    expect(started.length).toBe(3)
    await finish()
    await finish()
    const states = (await Promise.all(runs)).map(({ state }) => state['guard:concurrency:waited' as never])
    expect([states, clock.pending]).toEqual([[0, 0, 500], 0])
  })

  it('gives places to the tenants in turn', async () => {
    const { run, started, finish, clock } = gate({ limit: 1 })
    const runs = ['acme', 'acme', 'acme', 'acme', 'globex', 'globex', 'initech'].map(run)
    await clock.advance(0)
    for (const _ of runs) await finish()
    await Promise.all(runs)
    expect(started).toEqual(['acme', 'acme', 'globex', 'initech', 'acme', 'globex', 'acme'])
  })

  it('keeps a tenant to its own places, while others are free', async () => {
    const { run, started, finish, clock } = gate({ limit: 3, perTenant: 1 })
    const runs = ['acme', 'acme', 'globex'].map(run)
    await clock.advance(0)
    expect(started).toEqual(['acme', 'globex'])
    await finish()
    expect(started).toEqual(['acme', 'globex', 'acme'])
    await finish()
    await finish()
    await Promise.all(runs)
  })

  it('refuses one that finds too many waiting, and one that waits too long', async () => {
    const { agent, run, finish, clock } = gate({ limit: 1, maxQueueSize: 1, maxWait: 1000 })
    const events: unknown[] = []
    agent.on('guard:concurrency', ({ why, running, waiting }) => events.push([why, running, waiting]))
    const first = run()
    await clock.advance(0)
    const late = run()
    await clock.advance(0)
    const full = await run()
    await clock.advance(1000)
    expect([full.status, full.reason, (await late).status, (await late).reason]).toEqual([
      'blocked',
      '"guard:concurrency": the limit is reached, with 1 running model call and 1 waiting. Try again later.',
      'blocked',
      '"guard:concurrency": no slot became free within 1000 ms, with 1 running model call. Try again later.',
    ])
    expect(events).toEqual([
      ['full', 1, 1],
      ['late', 1, 0],
    ])
    await finish()
    expect([(await first).status, clock.pending]).toEqual(['completed', 0])
  })

  it('leaves the line when the run is aborted, and its place when the call is', async () => {
    const { run, started, finish, clock } = gate({ limit: 1 })
    const runs = [run('a'), run('b'), run('c')] as const
    await clock.advance(0)
    runs[1].abort('gone')
    await clock.advance(0)
    runs[0].abort('gone')
    await clock.advance(0)
    expect(started).toEqual(['a', 'c'])
    await Promise.allSettled(runs.slice(0, 2))
    await finish()
    await finish()
    expect([(await runs[2]).status, clock.pending]).toEqual(['completed', 0])
  })

  it('takes no place for an answer of another layer, nor while a retry waits', async () => {
    const cache: Middleware = { name: 'cache', model: (ctx) => ctx.skipCall('Cached.') }
    const { run, finish, clock } = gate({ limit: 1 })
    const busy = run()
    await clock.advance(0)
    const { agent } = scene([], [cache, concurrency({ limit: 1, maxQueueSize: 0 }) as Middleware])
    expect((await agent.run('hi')).text).toBe('Cached.')
    await finish()
    await busy
  })

  it('gives the place back when the call fails', async () => {
    const { agent } = scene([new Error('down'), 'Up.'], [concurrency({ limit: 1, maxQueueSize: 0 })])
    await agent.run('1').catch(() => {})
    expect((await agent.run('2')).text).toBe('Up.')
  })

  it('holds a place for a whole turn where it is told to', async () => {
    const { agent, ran } = scene(
      [calling(['work']), 'One.', 'Two.'],
      [concurrency({ limit: 1, maxQueueSize: 0, scope: 'turn' })],
      { tools: ['work'] },
    )
    const first = agent.run('1')
    const second = await agent.run('2')
    expect([(await first).text, second.status, ran.length]).toEqual(['One.', 'blocked', 1])
    expect(second.reason).toBe(
      '"guard:concurrency": the limit is reached, with 1 running turn and 0 waiting. Try again later.',
    )
  })

  it.each([{ limit: 0 }, { limit: Number.NaN }, { limit: 1, perTenant: 0 }, { limit: 1, queue: -1 }])(
    'refuses %j',
    (options) => {
      expect(() => concurrency(options)).toThrow(expect.objectContaining({ code: 'layer.config' }))
    },
  )
})
