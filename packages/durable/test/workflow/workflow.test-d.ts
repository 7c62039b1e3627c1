import { Agent } from '@allium/core'
import { sqlite } from '@allium/store-sqlite'
import { scriptedModel } from '@allium/testing'
import { expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { durable } from '../../src/index.ts'
import { workflow } from '../../src/workflow.ts'

const store = sqlite(':memory:')
const writer = new Agent({ model: scriptedModel(['Hi']) })

it('infers the input, the values of steps and the result', () => {
  const flow = workflow({
    ...{ name: 'flow', version: '1', store },
    schema: z.object({ id: z.string(), times: z.coerce.number() }),
    async run(ctx) {
      expectTypeOf(ctx.input).toEqualTypeOf<{ id: string; times: number }>()
      const [order, answer] = await ctx.all([
        ctx.step('load', async () => ({ amount: 7 })),
        ctx.agent(writer, 'Write.', { output: z.object({ letter: z.string() }) }),
      ])
      expectTypeOf(order).toEqualTypeOf<{ amount: number }>()
      expectTypeOf(answer.output).toEqualTypeOf<{ letter: string } | null>()
      return order.amount
    },
  })
  expectTypeOf(flow.result({ status: 'completed', text: '7' })).toEqualTypeOf<number | undefined>()
  flow.input({ id: 'a', times: '2' })
  // @ts-expect-error the id is missing
  flow.input({ times: 2 })
  durable(flow, { store })
})
