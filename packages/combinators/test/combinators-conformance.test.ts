import { defineMiddleware, type Middleware } from '@allium/core'
import { layerConformance } from '@allium/testing'
import { describe, it } from 'vitest'
import { canary, failClosed, failOpen, limitTime, shadow, when } from '../src/index.ts'

/** Works in all three scopes, and counts that in its state. */
function counting(): Middleware {
  const count = (ctx: { state: object }) => Object.assign(ctx.state, { 'counting:calls': 1 })
  return defineMiddleware({
    name: 'counting',
    order: { is: ['meters'] },
    state: { 'counting:calls': { default: 0, reducer: (a, b: number) => a + b } },
    async turn(ctx, next) {
      count(ctx)
      await next()
    },
    model(ctx, next) {
      count(ctx)
      ctx.addSystemMessage('Be brief.')
      return next()
    },
    tool(ctx, next) {
      count(ctx)
      return next()
    },
  }) as Middleware
}

describe('a layer keeps the contract in', () => {
  const combined: Record<string, () => Middleware> = {
    when: () => when(() => true, counting()),
    limitTime: () => limitTime(counting(), 1000),
    failOpen: () => failOpen(counting()),
    failClosed: () => failClosed(counting()),
    shadow: () => shadow(counting()),
    canary: () => canary(counting(), { percent: 50, per: () => 'somebody' }),
  }
  for (const [name, layer] of Object.entries(combined)) layerConformance({ name, layer, describe, it, strict: true })
})
