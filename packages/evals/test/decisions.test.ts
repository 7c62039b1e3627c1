import { Agent, defineMiddleware, delegate, type Middleware } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { type EvalDecision, evaluate } from '../src/index.ts'

const refund = { name: 'refund', description: 'Refunds', jsonSchema: { type: 'object' }, execute: () => 'done' }
const callsRefund = () => scriptedModel([{ toolCalls: [{ name: 'refund' }] }, 'Done.'])
const around: Middleware = { name: 'around', tool: (_ctx, next) => next(), model: (_ctx, next) => next() }

async function decisionsOf(agent: Agent): Promise<readonly EvalDecision[] | undefined> {
  const report = await evaluate({ agent, cases: [{ input: 'Refund' }], scorers: { any: () => 1 }, trials: 1 })
  return report.cases[0]?.trials[0]?.decisions
}

describe('the decisions of a run', () => {
  it.each<[string, Middleware['tool']]>([
    ['returns the denial', (ctx) => ctx.deny('too much')],
    [
      'denies and calls next()',
      (ctx, next) => {
        ctx.deny('too much')
        return next()
      },
    ],
    [
      'denies and returns something else',
      (ctx) => {
        ctx.deny('too much')
        return 'fine'
      },
    ],
  ])('name the layer that %s', async (_, tool) => {
    const cap = { name: 'cap', tool } as Middleware
    const agent = () => new Agent({ model: callsRefund(), tools: [refund] })
    const denied = { layer: 'cap', scope: 'tool', decision: 'denied', tool: 'refund', reason: 'too much' }
    expect(await decisionsOf(agent().use([around, cap]))).toEqual([denied])
    expect(await decisionsOf(agent().use([cap, around]))).toEqual([denied])
  })

  it('name the core for a tool that requires approval', async () => {
    const agent = new Agent({ model: callsRefund(), tools: [{ ...refund, requireApproval: true }] }).use(around)
    expect(await decisionsOf(agent)).toMatchObject([{ layer: 'core', decision: 'suspended', tool: 'refund' }])
  })

  it('name the layer that blocks the turn', async () => {
    const guard = defineMiddleware({ name: 'guard', turn: (ctx) => ctx.block('no refunds') })
    const agent = new Agent({ model: callsRefund() }).use((_ctx, next) => next()).use(guard)
    expect(await decisionsOf(agent)).toEqual([
      { layer: 'guard', scope: 'turn', decision: 'blocked', reason: 'no refunds' },
    ])
  })

  it('name layers that retry, recover, and answer themselves', async () => {
    const retry: Middleware = {
      name: 'retry',
      async model(_ctx, next) {
        return next().catch(() => next())
      },
    }
    const fallback: Middleware = { name: 'fallback', model: (_ctx, next) => next().catch(() => 'Sorry.') }
    const cache: Middleware = { name: 'cache', model: () => 'Cached.' }
    const failing = () => scriptedModel([new Error('busy'), 'Fine.'])
    const told = async (...layers: Middleware[]) =>
      (await decisionsOf(new Agent({ model: failing() }).use([around, ...layers])))?.map(
        ({ layer, decision }) => `${layer} ${decision}`,
      )
    expect(await told(retry)).toEqual(['retry retried'])
    expect(await told(fallback)).toEqual(['fallback recovered'])
    expect(await told(cache)).toEqual(['cache skipped'])
  })

  it('do not blame an inherited layer for a denial inside a sub-agent', async () => {
    const cap = defineMiddleware({ name: 'cap', tool: (ctx) => ctx.deny('too much') })
    const inner = new Agent({ name: 'inner', model: callsRefund(), tools: [refund] }).use(cap)
    const ask = {
      name: 'ask',
      description: 'Asks',
      jsonSchema: { type: 'object' },
      execute: async (_args: object, ctx: never) => (await delegate(ctx, inner, 'Refund'))?.text,
    }
    const model = scriptedModel([{ toolCalls: [{ name: 'ask' }] }, 'Done.'])
    const inherited: Middleware = { name: 'inherited', inherit: true, tool: (_ctx, next) => next() }
    expect(await decisionsOf(new Agent({ model, tools: [ask] }).use(inherited))).toMatchObject([
      { layer: 'sub-agent', decision: 'denied', tool: 'refund', reason: 'too much' },
    ])
  })
})
