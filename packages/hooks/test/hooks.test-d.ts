import { Agent, type ContentChunk, capability, type ToolResult, type Usage } from '@allium/core'
import { inject } from '@allium/core/context'
import { scriptedModel } from '@allium/testing'
import { expectTypeOf } from 'vitest'
import { z } from 'zod'
import { agent, decorator, from, type HookContext, type IMiddleware, type RunConfig } from '../src/index.ts'

const model = scriptedModel([])

// What hooks get is inferred.
from({
  onConfig(ctx, config) {
    expectTypeOf(ctx.phase).toEqualTypeOf<'init' | 'beforeModel' | 'modelStream' | 'beforeTools' | 'afterTools'>()
    expectTypeOf(config).toEqualTypeOf<RunConfig>()
    return { temperature: 1 }
  },
  onChunk: (_, chunk) => {
    expectTypeOf(chunk).toEqualTypeOf<ContentChunk>()
  },
  onUsage: (_, usage) => expectTypeOf(usage).toEqualTypeOf<Usage>() as never,
  onAfterToolCall(_, { result, ok }) {
    expectTypeOf(result).toEqualTypeOf<Readonly<ToolResult>>()
    expectTypeOf(ok).toEqualTypeOf<boolean>()
  },
})

// The context of a class is typed by IMiddleware, and its agent's by the schema.
class Audit implements IMiddleware<{ tenant: string }> {
  getName() {
    return 'audit'
  }
  onStart(ctx: HookContext<{ tenant: string }>) {
    expectTypeOf(ctx.context.tenant).toEqualTypeOf<string>()
  }
}
decorator.middleware()(Audit)
const made = new Agent({
  model,
  context: z.object({ tenant: z.string() }),
  principal: z.object({ userId: z.string() }),
})
made.use(from(new Audit()))
made.use(from([new Audit(), Audit]))
made.use(from({ onStart: (ctx: HookContext<{ tenant: string }>) => void ctx.context.tenant }))
from({ onStart: (ctx) => expectTypeOf(ctx.context).toBeUnknown() as never })

// Adding hooks keeps the agent's state.
const counted = await new Agent({ model })
  .use({ name: 'counter', state: { turns: { default: 0 } } })
  .use(from({ onStart() {} }))
  .run('hi')
expectTypeOf(counted.state.turns).toEqualTypeOf<number>()

// Capabilities are typed.
const Db = capability<{ rows: number }>('db')
from({
  setup: (ctx) => ctx.provide(Db, { rows: 1 }),
  onStart: (ctx) => expectTypeOf(inject(ctx, Db).rows).toEqualTypeOf<number>() as never,
})
// @ts-expect-error: not what the capability is
from({ setup: (ctx) => ctx.provide(Db, 'rows') })

// @ts-expect-error: a class of middleware has a name
const nameless: IMiddleware = { onStart() {} }
// @ts-expect-error: no such decision
from({ onBeforeToolCall: () => ({ type: 'allow' }) })
// @ts-expect-error: no such hook
from({ onStarted() {} })
// @ts-expect-error: no such setting
from({ onConfig: () => ({ temprature: 1 }) })

// A class-based agent is typed by its options.
const support = agent(class {}, { model, context: z.object({ tenant: z.string() }) })
// @ts-expect-error: the context has a tenant
support.run('hi', { context: {} })
void nameless
