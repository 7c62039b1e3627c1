import { describe, expect, it } from 'vitest'
import type { ScriptedStep } from '../../testing/src/index.ts'
import type { Middleware } from '../src/index.ts'
import { build, scopes, tool } from './kit.ts'

/** A layer that pushes its way in and its way out, in all five scopes. */
function traced(name: string, log: string[], over: Partial<Middleware> = {}): Middleware {
  const hooks = scopes.map((scope) => [
    scope,
    async (_: unknown, next: () => Promise<unknown>) => {
      log.push(`${name}.${scope}>`)
      const value = await next()
      log.push(`${name}.${scope}<`)
      return value
    },
  ])
  return { name, ...Object.fromEntries(hooks), ...over }
}

const way = (names: string, scope: string, core: string[]) => [
  ...[...names].map((name) => `${name}.${scope}>`),
  ...core,
  ...[...names].reverse().map((name) => `${name}.${scope}<`),
]

describe('order', () => {
  it('goes in through five scopes in the order of registration and out in reverse', async () => {
    const log: string[] = []
    const core = (name: string, step: ScriptedStep) => () => {
      log.push(name)
      return step as string
    }
    const { agent } = build(
      [core('model 0', { toolCalls: [{ name: 'work' }] }), core('model 1', 'done')],
      ['A', 'B', 'C'].map((name) => traced(name, log)),
      { tools: [tool('work', core('tool', 'worked'))] },
    )
    await agent.init()
    expect(log.splice(0)).toEqual(['A.agent>', 'B.agent>', 'C.agent>'])
    const session = agent.session()
    await session.run('hi')
    expect(log.splice(0)).toEqual([
      ...['A.session>', 'B.session>', 'C.session>'],
      ...way('ABC', 'turn', [
        ...way('ABC', 'model', ['model 0']),
        ...way('ABC', 'tool', ['tool']),
        ...way('ABC', 'model', ['model 1']),
      ]),
    ])
    await session.close()
    await agent.dispose()
    expect(log).toEqual(['C.session<', 'B.session<', 'A.session<', 'C.agent<', 'B.agent<', 'A.agent<'])
  })

  it('enters agent and session layers once, however many turns and sessions there are', async () => {
    const log: string[] = []
    const { agent } = build(['a', 'b', 'c'], [traced('A', log)])
    const [first, second] = [agent.session(), agent.session()]
    await first.run('1')
    await first.run('2')
    await second.run('3')
    const count = (entry: string) => log.filter((one) => one === entry).length
    expect(['A.agent>', 'A.session>', 'A.turn>'].map(count)).toEqual([1, 2, 3])
  })

  it('puts the layers of a run inside the agent layers, for that run alone', async () => {
    const log: string[] = []
    const { agent } = build(['a', 'b'], [traced('A', log)])
    const session = agent.session()
    await session.run('1', { use: [traced('R', log, { agent: undefined, session: undefined } as never)] })
    expect(log.splice(0).slice(2)).toEqual(way('AR', 'turn', way('AR', 'model', [])))
    await session.run('2')
    expect(log).toEqual(way('A', 'turn', way('A', 'model', [])))
  })

  it('compiles the layers of a run once for each array', async () => {
    let reads = 0
    const layer = {
      name: 'R',
      get turn() {
        reads++
        return (_: unknown, next: () => Promise<void>) => next()
      },
    }
    const { agent } = build(['a', 'b', 'c'])
    const session = agent.session()
    const use = [layer]
    await session.run('1', { use })
    const once = reads
    await session.run('2', { use })
    expect(reads).toBe(once)
    await session.run('3', { use: [layer] })
    expect(reads).toBeGreaterThan(once)
  })

  it('keeps the order where layers take their time', async () => {
    const log: string[] = []
    const slow = (name: string, ticks: number): Middleware => ({
      name,
      async turn(_, next) {
        for (let i = 0; i < ticks; i++) await null
        log.push(`${name}>`)
        await next()
        for (let i = 0; i < ticks; i++) await null
        log.push(`${name}<`)
      },
    })
    await build(['ok'], [slow('A', 50), slow('B', 20), slow('C', 0)]).agent.run('hi')
    expect(log).toEqual(['A>', 'B>', 'C>', 'C<', 'B<', 'A<'])
  })

  it('takes synchronous layers that return next() among asynchronous ones', async () => {
    const log: string[] = []
    const sync: Middleware = {
      name: 'sync',
      turn: (_, next) => {
        log.push('sync')
        return next()
      },
      model: (_, next) => next(),
    }
    await build(['ok'], [sync, traced('A', log, { session: undefined, agent: undefined } as never)]).agent.run('hi')
    expect(log).toEqual(['sync', ...way('A', 'turn', way('A', 'model', []))])
  })
})
