import type { Agent as CoreAgent } from '@allium/core'
import { expectTypeOf } from 'vitest'
import { z } from 'zod'
import * as guard from '../src/guard.ts'
import { Agent, type Session } from '../src/index.ts'
import * as model from '../src/model.ts'
import * as observe from '../src/observe.ts'
import { scriptedModel } from '../src/testing.ts'
import * as tools from '../src/tools.ts'

const agent = new Agent({
  model: scriptedModel([]),
  context: z.object({ locale: z.string() }),
  principal: z.object({ tenantId: z.string() }),
})
  .use(guard.budget({ limit: 1.0 }))
  .use(model.retry())
  .use(observe.usage())
  .use(observe.onion())
  .use(tools.function({ name: 'now', description: 'Tells the time', schema: z.object({}), execute: () => Date.now() }))
  .use('turn', async (ctx, next) => {
    expectTypeOf(ctx.context.locale).toEqualTypeOf<string>()
    expectTypeOf(ctx.principal.tenantId).toEqualTypeOf<string>()
    expectTypeOf(ctx.state['guard:budget:spent']).toEqualTypeOf<number>()
    await next()
  })

// State, context and principal are inferred, as with core's Agent.
const { state } = await agent.run('hello')
expectTypeOf(state['guard:budget:spent']).toEqualTypeOf<number>()
expectTypeOf(state['observe:usage:cost']).toEqualTypeOf<number>()
const session = agent.session({ principal: { tenantId: 'acme' }, context: { locale: 'de' } })
expectTypeOf(session).toExtend<Session<{ 'guard:budget:spent': number }, { locale: string }>>()
// @ts-expect-error: the principal has a tenant
agent.session({ principal: { tenant: 'acme' } })

// Either may stand for the other.
const asUmbrella: Agent<{ 'guard:budget:spent': number }> = new Agent({ model: 'a/b' }).use(guard.budget({ limit: 1 }))
const asCore: CoreAgent = new Agent({ model: 'a/b' })
void [asUmbrella, asCore]

// @ts-expect-error a factory is called: .use(guard.budget({ limit: 1 }))
new Agent({ model: 'a/b' }).use(guard.budget)
// @ts-expect-error and so is one that needs no options
new Agent({ model: 'a/b' }).use(model.retry)
