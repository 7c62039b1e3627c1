import { describe, expect, it } from 'vitest'
import type { LayerOrder, Middleware } from '../src/index.ts'
import { build, failure } from './kit.ts'

const layer = (name: string, order: LayerOrder | string, more: Partial<Middleware> = {}): Middleware => ({
  name,
  order: typeof order === 'string' ? { is: [order] } : order,
  model: (_, next) => next(),
  ...more,
})
const check = (...layers: Middleware[]) => build([], layers).agent.check()

describe('the order check', () => {
  it.each([
    ['retries', 'meters'],
    ['redacts', 'caches'],
    ['redacts', 'observes'],
    ['redacts', 'persists'],
    ['shapes', 'caches'],
    ['caches', 'meters'],
    ['caches', 'repairs'],
    ['mutates', 'authorizes'],
  ])('finds %s inside %s, gives a reason, and is content with the right order', (outer, inner) => {
    const findings = check(layer('in', inner), layer('out', outer))
    expect(findings).toMatchObject([
      { severity: 'error', layers: ['out', 'in'], message: expect.stringMatching(/"out".*"in"|"in".*"out"/) },
    ])
    expect(check(layer('out', outer), layer('in', inner))).toEqual([])
  })

  it.each([
    ['limits', 'caches'],
    ['blocks', 'retries'],
  ])('warns of %s inside %s', (outer, inner) => {
    expect(check(layer('in', inner), layer('out', outer))).toMatchObject([{ severity: 'warn' }])
  })

  it('finds a cache around an authorizer in tool scope alone', () => {
    const inTool = { model: undefined, tool: (_: unknown, next: () => Promise<never>) => next() } as Partial<Middleware>
    expect(check(layer('cache', 'caches', inTool), layer('policy', 'authorizes', inTool))).toMatchObject([
      { layers: ['policy', 'cache'] },
    ])
    expect(check(layer('cache', 'caches'), layer('policy', 'authorizes'))).toEqual([])
  })

  it('follows inside and outside, by name and by category', () => {
    expect(check(layer('a', { inside: ['b'] }), layer('b', {}))).toMatchObject([{ layers: ['b', 'a'] }])
    expect(check(layer('a', 'x'), layer('b', { outside: ['x'] }))).toMatchObject([{ layers: ['b', 'a'] }])
    expect(check(layer('b', {}), layer('a', { inside: ['b', 'nobody'] }))).toEqual([])
  })

  it('counts innermost as inside all others', () => {
    expect(check(layer('meter', 'meters', { innermost: true }), layer('retry', 'retries'))).toEqual([])
    expect(check(layer('retry', 'retries', { innermost: true }), layer('meter', 'meters'))).toHaveLength(1)
  })

  it('lets init() throw on errors, warn on warnings, and obeys orderCheck', async () => {
    const wrong = [layer('meter', 'meters'), layer('retry', 'retries')]
    const error = await failure(build([], wrong).agent.init())
    expect(error).toMatchObject({ code: 'layer.order', details: { findings: [{ layers: ['retry', 'meter'] }] } })
    const warned = build([], wrong, { orderCheck: 'warn' })
    await warned.agent.init()
    expect(warned.log).toHaveLength(1)
    const off = build([], wrong, { orderCheck: 'off' })
    await off.agent.init()
    expect(off.log).toEqual([])
    const soft = build([], [layer('cache', 'caches'), layer('limit', 'limits')])
    await soft.agent.init()
    expect(soft.log).toHaveLength(1)
  })
})

describe('inspect', () => {
  it('gives the onion as data: layers, scopes, order', () => {
    const { agent } = build(
      [],
      [
        { name: 'meter', innermost: true, state: { 'meter:n': { default: 0 } }, model: (_, next) => next() },
        {
          name: 'retry',
          reenters: true,
          order: { is: ['retries'] },
          model: (_, next) => next(),
          turn: (_, next) => next(),
        },
      ],
      { name: 'inspected' },
    )
    expect(agent.inspect()).toMatchObject({
      agent: 'inspected',
      layers: [
        { name: 'meter', scopes: ['model'], innermost: true, reenters: false, state: ['meter:n'] },
        { name: 'retry', scopes: ['turn', 'model'], reenters: true, order: { is: ['retries'] } },
      ],
      scopes: { agent: [], session: [], turn: ['retry'], model: ['retry', 'meter'], tool: [] },
    })
    expect(JSON.parse(JSON.stringify(agent.inspect()))).toEqual(agent.inspect())
  })
})
