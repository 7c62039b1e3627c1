// Compiled, never run: what a client infers from the agent and its tools, and the mistakes that must not compile.
import { Agent, defineTool } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { z } from 'zod'
import { createClient } from '../src/client.ts'

const description = 'Does it.'
const tools = {
  refund: defineTool({ name: 'refund', description, schema: z.object({ cents: z.number() }) }),
  clock: defineTool({ name: 'clock', description, jsonSchema: { type: 'object' } }),
}
const agent = new Agent({ model: scriptedModel([]), tools: [tools.refund, tools.clock] })
const url = 'http://localhost'

const client = createClient<typeof agent>({ url })
const session = client.session('a')

// The name of a tool tells its arguments, in events and in approvals.
for await (const event of session.run('Hi')) {
  if (event.type === 'tool:start' && event.name === 'refund') {
    const cents: number = event.args.cents
    // @ts-expect-error The tool takes no such argument.
    console.log(cents, event.args.euros)
  }
  // @ts-expect-error The agent has no such tool.
  if (event.type === 'tool:start' && event.name === 'refunds') console.log(event)
  // @ts-expect-error There is no such event.
  if (event.type === 'tool-start') console.log(event)
  if (event.type === 'turn:end') console.log(event.pending?.[0]?.token)
}
const { text, pending } = await session.run('Hi')
const length: number = text.length
for (const call of pending) {
  if (call.name === 'refund') console.log(call.args.cents.toFixed(), length)
  await session.approve(call)
  // @ts-expect-error A denial has a reason.
  session.deny(call)
}
// A schema tells what the answer is; without one it is a text.
const { output } = await session.run('Hi', { output: z.object({ cents: z.number() }) })
console.log(output?.cents.toFixed(), (await session.run('Hi')).output?.length)
// @ts-expect-error The answer has no such field.
console.log(output?.euros)

const waiting = (await client.approvals()).items[0]
if (waiting?.name === 'refund') console.log(waiting.sessionId, waiting.args.cents.toFixed())
// @ts-expect-error An image comes as base64, not as bytes.
session.run([{ type: 'image', data: new Uint8Array(), mediaType: 'image/png' }])
// @ts-expect-error There is one agent, and no name.
createClient<typeof agent>({ url, agent: 'support' })

// The state is that of the agent, as far as the server shows it.
const counted = new Agent({ model: scriptedModel([]) }).use({ name: 'count', state: { count: { default: 0 } } })
const state = await createClient<typeof counted>({ url }).session('a').state()
const count: number | undefined = state.count
console.log(count)
// @ts-expect-error The agent has no such state.
console.log(state.counts)
// @ts-expect-error The server may not show it.
state.count.toFixed()

// Several agents are asked by name.
const agents = { support: agent, sales: agent }
createClient<typeof agents>({ url, agent: 'sales' })
// @ts-expect-error There is no such agent.
createClient<typeof agents>({ url, agent: 'sale' })
// @ts-expect-error Which one?
createClient<typeof agents>({ url })

// Of tools that nobody has defined the arguments are those of any.
for await (const event of createClient<typeof counted>({ url }).session().run('Hi'))
  if (event.type === 'tool:start') console.log(event.name.length, event.args.anything)
