import { Agent, type Middleware } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { shadow } from '../../src/index.ts'
import { shadowCounts } from '../../src/rollout.ts'

it('Counts say how often each shadowed layer would have denied, failed or changed something', async () => {
  const limit: Middleware = {
    name: 'limit',
    tool: (ctx, next) => ((ctx.args as { n: number }).n > 1 ? ctx.deny('Too much.') : next()),
  }
  const broken: Middleware = {
    name: 'broken',
    turn() {
      throw new Error('Broken.')
    },
  }
  const decisions = shadowCounts()
  const calls = [1, 2, 3].map((n) => ({ name: 'pay', args: { n } }))
  const pay = { name: 'pay', description: 'Pays', jsonSchema: { type: 'object' }, execute: () => 'paid' }
  const agent = new Agent({ model: scriptedModel([{ toolCalls: calls }, 'Paid.']), tools: [pay as never] })
  agent.use(shadow(limit, { onDecision: decisions.add })).use(shadow(broken, { onDecision: decisions.add }))
  expect((await agent.run('Pay')).text).toBe('Paid.')
  await expect.poll(() => decisions.counts().limit?.total).toBe(3)
  const none = { skip: 0, suspend: 0, block: 0, abort: 0, change: 0 }
  expect(decisions.counts()).toEqual({
    limit: { ...none, total: 3, pass: 1, deny: 2, throw: 0 },
    broken: { ...none, total: 1, pass: 0, deny: 0, throw: 1 },
  })
})
