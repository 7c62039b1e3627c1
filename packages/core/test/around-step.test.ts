import { describe, expect, it } from 'vitest'
import { aroundStep } from '../src/context.ts'
import { type AroundStep, defineMiddleware } from '../src/index.ts'
import { build, oneCall, rest, settled, tool } from './kit.ts'

function around(wrapper: AroundStep, name = 'wraps') {
  return defineMiddleware({
    name,
    session(ctx, next) {
      aroundStep(ctx, wrapper)
      return next()
    },
  })
}

const working = { tools: [tool('work')] }

describe('aroundStep()', () => {
  it('wraps each step from the first layer inward: the checkpoint, then the instructions, then the step', async () => {
    const log: string[] = []
    const noting = (name: string) =>
      around(async ({ index }, next) => {
        log.push(`${name} ${index}`)
        await next()
        log.push(`${name} ends`)
      }, name)
    const { agent } = build(oneCall, [noting('outer'), noting('inner')], {
      ...working,
      instructions: () => {
        log.push('instructions')
        return 'Be brief.'
      },
    })
    agent.on('step:start', () => log.push('step:start'))
    agent.on('step:end', () => log.push('step:end'))
    await agent.run('hi')
    expect(log).toEqual([
      ...['outer 0', 'inner 0', 'instructions', 'step:start', 'step:end', 'inner ends', 'outer ends'],
      ...['outer 1', 'inner 1', 'step:start', 'step:end', 'inner ends', 'outer ends'],
    ])
  })

  it('has no getters of its own, which would keep the turn in memory until a full collection', async () => {
    const own: PropertyDescriptorMap[] = []
    const { agent } = build(
      ['ok'],
      [
        around((step, next) => {
          own.push(Object.getOwnPropertyDescriptors(step))
          return next()
        }),
      ],
    )
    await agent.run('hi')
    expect(own.flatMap((fields) => Object.keys(fields).filter((name) => fields[name]?.get !== undefined))).toEqual([])
  })

  it('sees what is new before the step, with what has come in', async () => {
    const seen: unknown[] = []
    const { agent } = build(
      oneCall,
      [
        around(({ turn }, next) => {
          seen.push([turn.status, turn.endedAt, turn.messages.map(({ content }) => content.length)])
          return next()
        }),
      ],
      working,
    )
    const run = agent.session().run('hi')
    void run.steer('more')
    await run
    expect(seen).toEqual([
      ['running', undefined, [2, 4]],
      ['running', undefined, [1, 1]],
    ])
  })

  it('sees the messages that changed since the step before, and how many did not', async () => {
    const seen: unknown[] = []
    const noting = around(({ unchanged, turn }, next) => {
      seen.push([unchanged, turn.messages.map(({ role }) => role), turn.calls?.length])
      return next()
    })
    const second = { toolCalls: [{ callId: 'c2', name: 'work' }] }
    const { agent } = build([...oneCall.slice(0, 1), second, 'ok'], [noting], { tools: [tool('work', () => 'done')] })
    await agent.run('hi')
    expect(seen).toEqual([
      [0, ['user'], 0],
      [1, ['assistant', 'tool'], 1],
      [3, ['assistant', 'tool'], 2],
    ])
  })

  it('wraps the rest of a suspended step', async () => {
    const seen: unknown[] = []
    const { agent } = build(
      oneCall,
      [
        around(({ index, resumed }, next) => {
          seen.push([index, resumed])
          return next()
        }),
      ],
      { tools: [tool('work', () => 'worked', { requireApproval: true })] },
    )
    const session = agent.session()
    await session.run('hi')
    await session.resume({ c1: { approve: true } })
    expect(seen).toEqual([
      [0, false],
      [0, true],
      [1, false],
    ])
  })

  it('fails the run with what it throws, before the model is called or after', async () => {
    const before = build(['ok'], [around(() => Promise.reject(new Error('full')))])
    expect((await settled(before.agent.run('hi'))).error?.message).toBe('full')
    expect(before.model.calls).toBe(0)
    const after = build(['ok'], [around((_, next) => next().then(() => Promise.reject(new Error('full'))))])
    expect((await settled(after.agent.run('hi'))).error?.message).toBe('full')
  })

  it('cannot swallow the error of a step, nor leave it out', async () => {
    const swallows = build([{ error: new Error('down') }], [around((_, next) => next().catch(() => {}))])
    expect((await settled(swallows.agent.run('hi'))).error?.message).toBe('down')
    const skips = build(['ok'], [around(() => {})])
    expect((await settled(skips.agent.run('hi'))).error?.code).toBe('layer.no_next')
    const twice = build(['ok'], [around((_, next) => next().then(next), 'twice')])
    expect((await settled(twice.agent.run('hi'))).error?.message).toContain('"twice"')
  })

  it('holds up no abort, and begins no step after it', async () => {
    let go!: () => void
    const hung = new Promise<void>((resolve) => (go = resolve))
    const log: unknown[] = []
    const hangs = around(async (_, next) => {
      await hung
      await next().catch((error) => log.push(error.name))
    })
    const { agent, model } = build(['ok'], [hangs])
    const run = agent.session().run('hi')
    await rest()
    run.abort()
    expect((await settled(run)).error?.name).toBe('AbortError')
    go()
    await rest()
    expect([model.calls, log]).toEqual([0, ['AbortError']])
  })
})
