// Compiled, never run: what the types infer, and the mistakes that must not compile.
import { z } from 'zod'
import { scriptedModel } from '../../testing/src/index.ts'
import { aroundRun, inject, physicalCallsOf } from '../src/context.ts'
import {
  Agent,
  capability,
  defineMiddleware,
  defineTool,
  type Middleware,
  type ModelResponse,
  type ResultOf,
} from '../src/index.ts'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
/** Compiles only where the two types are the same. */
declare function same<A, B>(..._: Equal<A, B> extends true ? [] : [error: 'the types differ', A, B]): void

const model = scriptedModel([])

// State is inferred from the layers, without a type argument.
const cost = defineMiddleware({
  name: 'cost',
  state: {
    'cost:total': { default: 0, reducer: (total, delta: number) => total + delta },
    'cost:calls': { default: [] as string[], reducer: (all, more) => [...all, ...more] },
    'cost:last': { default: () => new Date(0) },
  },
  async model(ctx, next) {
    same<number, (typeof ctx.state)['cost:total']>()
    ctx.state['cost:total'] = 0.5
    const response = await next()
    same<ModelResponse, typeof response>()
    return response
  },
})
const named = defineMiddleware({ name: 'named', state: { user: { default: null as string | null } } })
const configured = defineMiddleware({
  name: 'configured',
  config: z.object({ limit: z.number(), tag: z.string().default('x') }),
  turn(ctx, next) {
    same<{ limit: number; tag: string }, typeof ctx.config>()
    return next()
  },
})
const optional = defineMiddleware({ name: 'optional', config: z.object({ limit: z.number() }).optional() })

const agent = new Agent({ model })
  .use(cost)
  .use(named)
  .use(configured, { limit: 1 })
  .use(optional)
  .use('turn', async (ctx, next) => {
    same<string | null, typeof ctx.state.user>()
    await next()
  })
  .use((ctx, next) => {
    same<number, (typeof ctx.state)['cost:total']>()
    return next()
  })
  .use('tool', (ctx, next) => {
    same<Record<string, unknown>, typeof ctx.args>()
    return next()
  })

export async function results() {
  const { state } = await agent.run('hi')
  same<number, (typeof state)['cost:total']>()
  same<string[], (typeof state)['cost:calls']>()
  same<Date, (typeof state)['cost:last']>()
  same<string | null, typeof state.user>()
  same<string | null, ReturnType<typeof agent.session>['state']['user']>()
  // @ts-expect-error nobody declares this key
  state['cost:missing']
}

// Arrays of layers, and anything that converts, add their state too.
export async function arrays() {
  const { state } = await new Agent({ model })
    .use([cost, named])
    .use({ toMiddleware: () => defineMiddleware({ name: 'made', state: { made: { default: 1n } } }) })
    .run('hi')
  same<number, (typeof state)['cost:total']>()
  same<string | null, typeof state.user>()
  same<bigint, typeof state.made>()
}

// Fifty layers in a chain keep their state.
const field = <const K extends string>(key: K) =>
  defineMiddleware<Record<K, number>>({ name: key, state: { [key]: { default: 0 } } as never })
export const fifty = new Agent({ model })
  .use(field('a0'))
  .use(field('a1'))
  .use(field('a2'))
  .use(field('a3'))
  .use(field('a4'))
  .use(field('a5'))
  .use(field('a6'))
  .use(field('a7'))
  .use(field('a8'))
  .use(field('a9'))
  .use(field('b0'))
  .use(field('b1'))
  .use(field('b2'))
  .use(field('b3'))
  .use(field('b4'))
  .use(field('b5'))
  .use(field('b6'))
  .use(field('b7'))
  .use(field('b8'))
  .use(field('b9'))
  .use(field('c0'))
  .use(field('c1'))
  .use(field('c2'))
  .use(field('c3'))
  .use(field('c4'))
  .use(field('c5'))
  .use(field('c6'))
  .use(field('c7'))
  .use(field('c8'))
  .use(field('c9'))
  .use(field('d0'))
  .use(field('d1'))
  .use(field('d2'))
  .use(field('d3'))
  .use(field('d4'))
  .use(field('d5'))
  .use(field('d6'))
  .use(field('d7'))
  .use(field('d8'))
  .use(field('d9'))
  .use(field('e0'))
  .use(field('e1'))
  .use(field('e2'))
  .use(field('e3'))
  .use(field('e4'))
  .use(field('e5'))
  .use(field('e6'))
  .use(field('e7'))
  .use(field('e8'))
  .use(cost)
export async function chained() {
  const { state } = await fifty.run('hi')
  same<number, typeof state.a0>()
  same<number, typeof state.e8>()
  same<number, (typeof state)['cost:total']>()
  // @ts-expect-error nobody declares this key
  state.e9
}

// Context and principal are typed by the agent's schemas.
const typed = new Agent({
  model,
  context: z.object({ locale: z.enum(['en', 'de']) }),
  principal: z.object({ tenant: z.string() }),
}).use((ctx, next) => {
  same<'en' | 'de', typeof ctx.context.locale>()
  same<string, typeof ctx.principal.tenant>()
  return next()
})
export function contexts() {
  typed.session({ principal: { tenant: 'acme' }, context: { locale: 'en' } }).run('hi', { context: { locale: 'de' } })
  // @ts-expect-error a context of another shape
  typed.run('hi', { context: { locale: 'fr' } })
  // @ts-expect-error a principal of another shape
  typed.session({ principal: { tenant: 7 } })
}

// Tool arguments are typed by their schema.
export const add = defineTool({
  name: 'add',
  description: 'Adds',
  schema: z.object({ a: z.number(), b: z.number().default(1) }),
  execute(args, ctx) {
    same<{ a: number; b: number }, typeof args>()
    same<AbortSignal, typeof ctx.signal>()
    return args.a + args.b
  },
  requireApproval: ({ a }) => a > 10,
})
new Agent({ model, tools: [add] })

// A plain Middleware is loose inside and adds nothing.
const loose: Middleware = {
  name: 'loose',
  state: { 'loose:n': { default: 0, reducer: (prev, delta) => prev + delta } },
  async tool(ctx, next) {
    ctx.state.anything = ctx.args.deep.inside
    return next()
  },
}
export async function looseState() {
  const { state } = await new Agent({ model }).use(cost).use(loose).run('hi')
  same<number, (typeof state)['cost:total']>()
  // @ts-expect-error a loose layer adds no type
  state['loose:n']
}

// Capabilities are typed.
const Db = capability<{ find(): string }>('db')
defineMiddleware({
  name: 'user',
  async agent(ctx, next) {
    ctx.provide(Db, { find: () => 'row' })
    const db = inject(ctx, Db)
    same<string, ReturnType<typeof db.find>>()
    // @ts-expect-error not what the capability holds
    ctx.provide(Db, { find: 7 })
    await next()
  },
})

// Mistakes that must not compile.
defineMiddleware({
  name: 'undeclared',
  state: { known: { default: 0 } },
  turn(ctx, next) {
    // @ts-expect-error an undeclared state key
    ctx.state.unknown = 1
    // @ts-expect-error a value of another type
    ctx.state.known = 'text'
    return next()
  },
})
defineMiddleware({
  name: 'reducer',
  // @ts-expect-error the reducer gives another type than the default
  state: { n: { default: 0, reducer: (total, delta: number) => `${total}${delta}` } },
})
defineMiddleware({
  name: 'no default',
  // @ts-expect-error a state field needs a default
  state: { n: { reducer: (total: number, delta: number) => total + delta } },
})
defineMiddleware({
  name: 'nothing',
  // @ts-expect-error a model hook returns a response
  async model(_, next) {
    await next()
  },
})
defineMiddleware({
  name: 'no result',
  // @ts-expect-error a tool hook returns a result
  async tool(_, next) {
    await next()
  },
})
// A mistake in an object is told at the mistake, and not as if a list were wanted.
new Agent({ model }).use({
  name: 'typo',
  state: { n: { default: 0 } },
  // @ts-expect-error 'modle' does not exist in type 'TypedMiddleware<…>'. Did you mean to write 'model'?
  modle: (_ctx: unknown, next: () => unknown) => next(),
})
new Agent({ model }).use({
  // @ts-expect-error 'nam' does not exist in type 'TypedMiddleware<…>'. Did you mean to write 'name'?
  nam: 'typo',
  turn: (ctx, next) => {
    same<string, typeof ctx.turnId>()
    return next()
  },
})
new Agent({ model }).use({
  name: 'order',
  order: {
    // @ts-expect-error Type 'string' is not assignable to type 'readonly string[]'
    is: 'meters',
  },
  turn: (_, next) => next(),
})

// @ts-expect-error a layer object needs a name
defineMiddleware({ turn: (_: unknown, next: () => Promise<void>) => next() })
// @ts-expect-error the config is missing
agent.use(configured)
// @ts-expect-error the config is of another type
agent.use(configured, { limit: 'ten' })
// @ts-expect-error there is no such scope
agent.use('loop', async (_: unknown, next: () => Promise<void>) => next())
// @ts-expect-error an agent needs a model
new Agent({ name: 'x' })
agent.use('turn', (ctx, next) => {
  // @ts-expect-error a turn context has no tool
  ctx.tool
  // @ts-expect-error the history is append-only
  ctx.history[0] = { role: 'user', content: 'forged' }
  // @ts-expect-error and has no pop
  ctx.history.pop()
  return next()
})
agent.use('model', (ctx, next) => {
  // @ts-expect-error deny belongs to the tool scope
  ctx.deny('no')
  return next()
})
agent.use('agent', (ctx, next) => {
  // @ts-expect-error the agent scope has no state
  ctx.state
  return next()
})
agent.use((ctx, next) => {
  // @ts-expect-error an event is { type, … }
  ctx.emit('text')
  return next()
})
agent.on('tool:end', (event) => {
  same<string, typeof event.callId>()
  // @ts-expect-error an observer's event has no such field
  event.wrong
})
export async function runs() {
  // @ts-expect-error an option that does not exist
  agent.run('hi', { maxStep: 3 })
  // @ts-expect-error an input is a text or messages
  agent.run(7)
  same<string | null, Awaited<ReturnType<typeof plain>>['output']>()
  const city = z.object({ city: z.string() })
  same<{ city: string } | null, typeof typed.output>()
  const typed = await agent.run('hi', { output: city })
  const chosen = await agent.session().run('hi', { output: { schema: city, strategy: 'final' } })
  same<{ city: string } | null, typeof chosen.output>()
  // @ts-expect-error no such strategy
  agent.run('hi', { output: { schema: city, strategy: 'best' } })
  // @ts-expect-error not a schema
  agent.run('hi', { output: { city: 'string' } })
}
export function resultOfRun(result: ResultOf<typeof counted>) {
  same<number, (typeof result.state)['n']>()
  same<string | null, typeof result.output>()
}
const counted = new Agent({ model: 'x/y' }).use({ name: 'counted', state: { n: { default: 0 } } })

const plain = () => agent.run('hi', { maxSteps: 3 })

export async function decisions() {
  const session = agent.session()
  const { text } = await session.resume({
    c1: { approve: true },
    c2: { deny: 'no' },
    c3: { args: { n: 1 }, token: 'x' },
  })
  same<string, typeof text>()
  // @ts-expect-error a refusal has a reason
  session.resume({ c1: { deny: true } })
  // @ts-expect-error an approval is true, or it is a refusal
  session.resume({ c1: { approve: false } })
}

export const answers = new Agent({ model: 'x/y' }).use('turn', (ctx, next) => {
  same<string | null, typeof ctx.output>()
  ctx.output = 'an answer'
  // @ts-expect-error an answer is a text; none is given by leaving it as it is
  ctx.output = null
  return next()
})

export async function decidePending(session: ReturnType<typeof agent.session>) {
  const [call] = session.pending
  // The token of a pending call fits a decision, with exactOptionalPropertyTypes too.
  if (call !== undefined) await session.resume({ [call.callId]: { approve: true, token: call.token } })
}

// A verb is in the context of the scope where it works, and inner scopes do not inherit it.
defineMiddleware({
  name: 'verbs',
  async session(ctx, next) {
    ctx.restore({ history: [], state: {} })
    aroundRun(ctx, (_, next) => next())
    // @ts-expect-error tools are registered in agent hooks
    ctx.registerTool
    await next()
  },
  async turn(ctx, next) {
    ctx.onInput(() => {})
    ctx.hold()
    ctx.output = 'Hello.'
    // @ts-expect-error a turn cannot restore its session
    ctx.restore({ history: [], state: {} })
    // @ts-expect-error nor wrap its own run
    aroundRun(ctx, (_, next) => next())
    await next()
  },
  model(ctx, next) {
    ctx.hold()
    // @ts-expect-error the answer of the call would replace it
    ctx.output = 'Hello.'
    // @ts-expect-error the input has passed
    ctx.onInput(() => {})
    return next()
  },
  tool(ctx, next) {
    // @ts-expect-error a tool call has no stream
    ctx.onChunk(() => {})
    // @ts-expect-error only a model call has provider calls
    physicalCallsOf(ctx)
    return next()
  },
})
