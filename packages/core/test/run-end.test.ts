import { describe, expect, it } from 'vitest'
import { inject, setMaxSteps } from '../src/context.ts'
import { capability, type Middleware } from '../src/index.ts'
import { build, oneCall, settled, tool, turn } from './kit.ts'

describe('ctx.onEnd', () => {
  it('runs when nothing can change how the run ended: after all layers, the last registered first', async () => {
    const log: string[] = []
    const layer = (name: string): Middleware => ({
      name,
      async turn(ctx, next) {
        ctx.onEnd(({ status }: { status: string }) => void log.push(`${name} ${status}`))
        await next()
        log.push(`/${name}`)
      },
    })
    await turn(['ok'], [layer('a'), layer('b')])
    expect(log).toEqual(['/b', '/a', 'b completed', 'a completed'])
  })

  it('gets the error of a run that failed, and is awaited before it settles', async () => {
    const seen: unknown[] = []
    const { agent } = build(
      [new Error('500')],
      [
        (ctx, next) => {
          ctx.onEnd(async ({ status, error }) => {
            await Promise.resolve()
            seen.push(status, (error as Error).message)
          })
          return next()
        },
      ],
    )
    const run = agent.run('hi')
    await settled(run)
    expect(seen).toEqual(['failed', '500'])
  })

  it('cannot change the end: what it throws is reported, an abort in it does nothing', async () => {
    const { agent, log } = build(
      ['ok'],
      [
        (ctx, next) => {
          ctx.onEnd(() => ctx.abort('too late'))
          return next()
        },
      ],
    )
    const reported: string[] = []
    agent.on('observer:error', ({ event }) => reported.push(event))
    expect(await agent.run('hi')).toMatchObject({ status: 'completed', text: 'ok' })
    expect([reported, log.length]).toEqual([['onEnd'], 1])
  })
})

describe('what the calls of a turn start from', () => {
  it('is read in ctx.plan, of the run and not of the agent alone', async () => {
    const seen: unknown[] = []
    const { agent } = build(
      ['ok'],
      [
        (ctx, next) => {
          seen.push(ctx.plan)
          return next()
        },
      ],
      { settings: { temperature: 0, topP: 1 }, tools: [tool('work')] },
    )
    await agent.run('hi', { settings: { temperature: 1 } })
    expect(seen).toMatchObject([
      {
        model: 'scripted/model',
        settings: { temperature: 1, topP: 1 },
        tools: [{ name: 'work' }],
        answerTool: undefined,
      },
    ])
  })

  it('has its steps bounded by maxSteps, which a layer may change on the way', async () => {
    const bound: Middleware = {
      name: 'bound',
      model(ctx, next) {
        setMaxSteps(ctx, 1)
        return next()
      },
    }
    const { result } = await turn([...oneCall, 'never'], [bound], { tools: [tool('work')] })
    expect(result).toMatchObject({ status: 'stopped', reason: 'max_steps' })
  })
})

it('a capability that a turn hook provides is that turn only', async () => {
  const User = capability<string>('user')
  const seen: unknown[] = []
  const { agent } = build(
    ['a', 'b'],
    [
      (ctx, next) => {
        if (ctx.turnIndex === 0) ctx.provide(User, 'dana')
        seen.push(ctx.turnIndex === 0 ? inject(ctx, User) : settledInject(() => inject(ctx, User)))
        return next()
      },
    ],
  )
  const session = agent.session()
  await session.run('one')
  await session.run('two')
  expect(seen).toEqual(['dana', 'capability.missing'])
})

function settledInject(inject: () => unknown): unknown {
  try {
    return inject()
  } catch (error) {
    return (error as { code?: string }).code
  }
}
