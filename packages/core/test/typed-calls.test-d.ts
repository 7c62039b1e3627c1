// Compiled, never run: what the tools of an agent tell of its calls, and the mistakes that must not compile.
import { z } from 'zod'
import { Agent, type AnyTool, defineTool, type Model, type ResultOf } from '../src/index.ts'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
/** Compiles only where the two types are the same. */
declare function same<A, B>(..._: Equal<A, B> extends true ? [] : [error: 'the types differ', A, B]): void

declare const model: Model
const description = 'Does it.'

const refund = defineTool({
  name: 'refund',
  description,
  schema: z.object({ order: z.string(), cents: z.coerce.number() }),
  execute: async ({ cents }, ctx) => (cents > 100 ? ctx.suspend() : { refunded: cents }),
})
interface Place {
  city: string
}
const weather = defineTool({ name: 'weather', description, schema: z.custom<Place>() })
const clock = defineTool({ name: 'clock', description, jsonSchema: { type: 'object' }, execute: () => Date.now() })
const agent = new Agent({ model, tools: [refund, weather, clock] }).use({ name: 'layer', turn: (_ctx, next) => next() })

// The name of a call tells its arguments, as the model gives them.
for await (const event of agent.run('Hi')) {
  if (event.type === 'tool:start' && event.name === 'refund') {
    same<{ order: string; cents: unknown }, typeof event.args>()
    // @ts-expect-error The tool takes no such argument.
    console.log(event.args.euros)
  }
  if (event.type === 'tool:start' && event.name === 'weather') same<string, (typeof event.args)['city']>()
  // @ts-expect-error The agent has no such tool.
  if (event.type === 'tool:end' && event.name === 'refunds') console.log(event.content)
}

// What a tool gives is known in the result: not that it may wait for a human.
const session = agent.session()
const { toolCalls, pending } = await session.run('Hi')
for (const { name, result } of toolCalls) if (name === 'clock') console.log(result.value?.toFixed())
for (const call of toolCalls)
  if (call.name === 'refund') same<{ refunded: number } | undefined, typeof call.result.value>()
type Call = ResultOf<typeof agent>['toolCalls'][number]
same<'refund' | 'weather' | 'clock', Call['name']>()

// So do calls that wait, wherever they are told.
for (const call of [...pending, ...session.pending, ...(await session.pendingFor({ userId: 'ann' }))])
  if (call.name === 'refund') same<string, typeof call.args.order>()

// Such an agent is an agent: nobody who takes one has to know its tools.
const any: Agent = agent
console.log(any.name)

// Tools that nobody has defined, or not all of them, are those of any name.
const plain = { name: 'plain', description, jsonSchema: { type: 'object' } }
for (const tools of [[plain], [refund, plain], [refund, plain as AnyTool]]) {
  const { toolCalls: calls } = await new Agent({ model, tools }).run('Hi')
  same<string | undefined, NonNullable<(typeof calls)[number]>['name'] | undefined>()
}
const [mixed] = (await new Agent({ model, tools: [refund, plain] }).run('Hi')).toolCalls
same<string | undefined, NonNullable<typeof mixed>['name'] | undefined>()
const inline = new Agent({ model, tools: [{ name: 'inline', description, execute: () => 'done', jsonSchema: {} }] })
same<string, ResultOf<typeof inline>['pending'][number]['name']>()
