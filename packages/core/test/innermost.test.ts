import { describe, expect, it } from 'vitest'
import type { Middleware } from '../src/index.ts'
import { oneCall, tool, turn } from './kit.ts'

describe('innermost', () => {
  it('puts model and tool hooks below all others, in their own order, the run layers included', async () => {
    const log: string[] = []
    const layer = (name: string, innermost = false): Middleware => ({
      name,
      innermost,
      turn(_, next) {
        log.push(`turn ${name}`)
        return next()
      },
      tool(_, next) {
        log.push(`tool ${name}`)
        return next()
      },
    })
    const layers = [layer('meter', true), layer('a'), layer('journal', true), layer('b')]
    await turn(oneCall, layers, { tools: [tool('work')], run: { use: [layer('run'), layer('run meter', true)] } })
    expect(log.filter((entry) => entry.startsWith('tool'))).toEqual(
      ['a', 'b', 'run', 'meter', 'journal', 'run meter'].map((name) => `tool ${name}`),
    )
    expect(log[0]).toBe('turn meter')
  })

  it('lets a meter count every physical call, wherever it was registered', async () => {
    let metered = 0
    const meter: Middleware = {
      name: 'meter',
      innermost: true,
      model(_, next) {
        metered++
        return next()
      },
    }
    const retry: Middleware = { name: 'retry', model: (_, next) => next().catch(() => next()) }
    const cache: Middleware = {
      name: 'cache',
      async model(ctx, next) {
        return ctx.callIndex === 1 ? ctx.skipCall('cached') : next()
      },
    }
    const { model } = await turn([new Error('down'), { toolCalls: [{ name: 'work' }] }], [meter, retry, cache], {
      tools: [tool('work')],
    })
    expect([metered, model.calls]).toEqual([2, 2])
  })

  it('shows the final arguments to an authorizer that was registered first', async () => {
    let seen: unknown
    const authorizer: Middleware = {
      name: 'authorizer',
      innermost: true,
      tool(ctx, next) {
        seen = ctx.args
        return next()
      },
    }
    const changer: Middleware = {
      name: 'changer',
      tool(ctx, next) {
        ctx.modifyArgs({ changed: true })
        return next()
      },
    }
    await turn(oneCall, [authorizer, changer], { tools: [tool('work')] })
    expect(seen).toEqual({ changed: true })
  })
})
