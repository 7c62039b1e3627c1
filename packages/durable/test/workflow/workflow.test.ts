import { Agent, defineMiddleware } from '@allium/core'
import { setOrderRules } from '@allium/core/internal'
import { scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { workflow } from '../../src/workflow.ts'
import { ended, logger, principal, world } from './world.ts'

it('runs the steps of its code and returns the result', async () => {
  const { clock, store, process } = world()
  const ran: string[] = []
  const double = workflow({
    ...{ name: 'double', version: '1', store, clock, logger },
    async run(ctx) {
      const four = await ctx.step('two', () => 3 + ran.push('two'))
      for (let n = 0; n < 2; n++) await ctx.step('log', () => void ran.push(`log ${n}`))
      const [a, b] = await ctx.all([ctx.step('a', () => four + 1), ctx.step('b', () => ({ b: 'b' }))])
      return { a, b }
    },
  })
  const runs = process(double)
  const { run } = await runs.start({ principal, input: double.input(null) })
  expect(double.result(await ended(runs, run))).toEqual({ a: 5, b: { b: 'b' } })
  expect(ran).toEqual(['two', 'log 0', 'log 1'])
})

it('runs an agent as a step, whose usage belongs to the run', async () => {
  const { clock, store, process } = world()
  const writer = new Agent({ name: 'writer', model: scriptedModel(['Dear Ann']) })
  const letter = workflow({
    ...{ name: 'letter', version: '1', store, clock, logger },
    run: async (ctx) => (await ctx.agent(writer, 'Write a letter.')).text,
  })
  const runs = process(letter)
  const { run } = await runs.start({ principal, input: letter.input(null) })
  const info = await ended(runs, run)
  expect([letter.result(info), info.usage?.calls]).toEqual(['Dear Ann', 1])
})

it('is suspended by an approval, and continues with the decision in another process', async () => {
  const { clock, store, process } = world()
  const ran: string[] = []
  const make = () =>
    workflow({
      ...{ name: 'refund', version: '1', store, clock, logger },
      async run(ctx) {
        await ctx.step('load', () => void ran.push('load'))
        const decision = await ctx.approval('pay', { details: { amount: 7 } })
        if (!decision.approved) return `denied: ${decision.reason}`
        return ctx.step('pay', () => `paid ${decision.details.amount}, ${ran.push('pay')}`)
      },
    })
  const first = process(make())
  const { run, sessionId } = await first.start({ principal, input: 'null' })
  const { status, pending } = await ended(first, run)
  expect([status, pending?.map(({ callId, name, args }) => [callId, name, args])]).toEqual([
    'suspended',
    [['pay', 'approval', { name: 'pay', details: { amount: 7 } }]],
  ])
  await first.drain()
  const refund = make()
  const second = process(refund)
  const next = await second.start({ principal, sessionId, decisions: { pay: { approve: true } } })
  expect(refund.result(await ended(second, next.run))).toBe('paid 7, 2')
  expect(ran).toEqual(['load', 'pay'])
})

it('checks the order of its layers in a program that does not load the agent of allium', async () => {
  setOrderRules(undefined)
  const layer = (name: string, is: 'redacts' | 'observes') =>
    defineMiddleware({ name, order: { is: [is] }, tool: (_, next) => next() })
  const flow = workflow({ name: 'flow', version: '1', logger, run: () => 1 })
  flow.use([layer('log', 'observes'), layer('pii', 'redacts')])
  await expect(flow.init()).rejects.toThrow('"pii"')
})
