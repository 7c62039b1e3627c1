import { describe, expect, it } from 'vitest'
import type { Middleware } from '../src/index.ts'
import { oneCall, tool, traffic, turn } from './kit.ts'

describe('stop', () => {
  it('in a turn layer before next() runs no step', async () => {
    const { result, model } = await turn(
      ['never'],
      [
        {
          name: 'stopper',
          turn(ctx, next) {
            ctx.stop('closed today')
            return next()
          },
        },
      ],
    )
    expect(result).toMatchObject({ status: 'stopped', reason: 'closed today', text: '' })
    expect(model.calls).toBe(0)
  })

  it('in a model layer lets the tools of this step run, and no further step', async () => {
    const stopper: Middleware = {
      name: 'stopper',
      model(ctx, next) {
        ctx.stop('enough')
        return next()
      },
    }
    let ran = 0
    const { result, model, session } = await turn(oneCall, [stopper], { tools: [tool('work', () => ran++)] })
    expect([result?.status, result?.reason, ran, model.calls]).toEqual(['stopped', 'enough', 1, 1])
    expect(traffic(session.history)).toEqual({ calls: ['c1'], results: ['c1'] })
  })

  it('in a tool ends the loop after the siblings', async () => {
    const ran: string[] = []
    const steps = [{ toolCalls: [{ name: 'stopper' }, { name: 'work' }] }]
    const tools = [
      tool('stopper', (_, ctx) => {
        ctx.stop('done here')
        return 'stopping'
      }),
      tool('work', () => ran.push('work')),
    ]
    const { result } = await turn(steps, [], { tools, toolConcurrency: 1 })
    expect([result?.status, result?.reason, ran]).toEqual(['stopped', 'done here', ['work']])
  })

  it('keeps its first reason', async () => {
    const { result } = await turn(
      ['ok'],
      [
        {
          name: 'stopper',
          model(ctx, next) {
            ctx.stop('first')
            ctx.stop('second')
            return next()
          },
        },
      ],
    )
    expect([result?.reason, result?.text]).toEqual(['first', 'ok'])
  })

  it('loses against a failure and a block', async () => {
    const stop: Middleware = {
      name: 'stop',
      turn(ctx, next) {
        ctx.stop()
        return next()
      },
    }
    const failed = await turn(
      [],
      [
        stop,
        () => {
          throw new Error('broken')
        },
      ],
    )
    expect([failed.error?.message, failed.ends[0]?.status]).toEqual(['broken', 'failed'])
    expect((await turn([], [stop, (ctx) => ctx.block('no')])).result?.status).toBe('blocked')
  })

  it('comes by itself at maxSteps, of the agent or of the run', async () => {
    const endless = () => ({ toolCalls: [{ name: 'work' }] })
    const steps = Array.from({ length: 5 }, () => endless)
    const { result, model, session } = await turn(steps, [], { tools: [tool('work')], maxSteps: 3 })
    expect([result?.status, result?.reason, model.calls]).toEqual(['stopped', 'max_steps', 3])
    expect(traffic(session.history).results).toHaveLength(3)
    const one = await turn(steps, [], { tools: [tool('work')], run: { maxSteps: 1 } })
    expect([one.result?.reason, one.model.calls]).toEqual(['max_steps', 1])
  })

  it('does not come where the last allowed step answers', async () => {
    expect((await turn(oneCall, [], { tools: [tool('work')], maxSteps: 2 })).result?.status).toBe('completed')
  })
})
