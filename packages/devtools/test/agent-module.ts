import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Agent, defineMiddleware, defineTool, type Model, type ModelRequest } from 'allium'
import * as observe from 'allium/observe'
import { scriptedModel } from 'allium/testing'
import { z } from 'zod'

/** Text that would run or change the page if it became markup. */
const hostile = '<img src=x onerror="window.hacked = true"><script>window.hacked = true</script>'

const lookUp = defineTool({
  name: 'look_up',
  description: 'Looks up an order.',
  schema: z.object({ number: z.string() }),
  execute: ({ number }) => ({ number, item: 'lamp' }),
})

const refund = defineTool({
  name: 'refund',
  description: 'Refunds an order.',
  schema: z.object({ cents: z.number() }),
  requireApproval: true,
  execute: ({ cents }) => ({ refunded: cents }),
})

const whoAmI = defineTool({
  name: 'who_am_i',
  description: 'Returns the principal and the context.',
  schema: z.object({}),
  execute: (_, { principal, context }) => ({ principal, context }),
})

const broken = defineTool({
  name: 'broken',
  description: 'Breaks.',
  schema: z.object({}),
  execute() {
    throw new Error('The clock is broken.')
  },
})

/** Runs until the test creates the file `go`. */
const wait = defineTool({
  name: 'wait',
  description: 'Waits.',
  schema: z.object({}),
  async execute(_, { signal }) {
    while (!existsSync(join(process.cwd(), 'go')) && !signal.aborted) await new Promise((done) => setTimeout(done, 20))
    return 'went on'
  },
})

const desk = defineMiddleware({
  name: 'desk',
  options: { tone: 'brief', note: hostile },
  state: { 'desk:questions': { default: 0, reducer: (count: number, more: number) => count + more } },
  async turn(ctx, next) {
    ctx.state['desk:questions'] = 1
    await next()
  },
  async model(ctx, next) {
    ctx.addSystemMessage('Be brief.')
    return next()
  },
})

let calls = 0

/** Answers by the words of the last message. */
const model: Model = {
  id: 'openai/gpt-5-mini',
  stream: (request) => scriptedModel([stepFor(request)]).stream(request),
}

function stepFor({ messages }: ModelRequest) {
  const last = messages.at(-1)
  const text = typeof last?.content === 'string' ? last.content : JSON.stringify(last?.content)
  const call = (name: string, args: object) => ({
    toolCalls: [{ name, callId: `c${process.pid}-${++calls}`, args: { ...args } }],
  })
  const users = messages.filter(({ role }) => role === 'user')
  if (last?.role === 'tool')
    return isMany(users)
      ? nextOfMany(messages.length, call)
      : `The tool said ${text.includes('went on') ? 'go' : 'so'}.`
  if (text.includes('refund')) return call('refund', { cents: 500 })
  if (text.includes('wait')) return call('wait', {})
  if (text.includes('who am I')) return call('who_am_i', {})
  if (text.includes('break')) return call('broken', {})
  if (text.includes('many')) return call('look_up', { number: '0' })
  if (text.includes('hostile'))
    return { text: hostile, toolCalls: [{ name: 'look_up', callId: `c${++calls}`, args: { number: hostile } }] }
  return `You asked: ${text} (question ${users.length})`
}

function isMany(users: readonly { content: unknown }[]): boolean {
  return String(users.at(-1)?.content).includes('many')
}

function nextOfMany(messages: number, call: (name: string, args: object) => object) {
  return messages >= 100 ? 'All done.' : call('look_up', { number: String(messages) })
}

console.log('The agent was loaded with the key sk-ant-api03-8fKq2LmZx0VtR7nWcY4hJd1sGbP9eUaQ')

export default new Agent({
  name: 'support',
  model,
  instructions: 'You support customers.',
  tools: [lookUp, refund, wait, whoAmI, broken],
  maxSteps: 100_000,
})
  .use(desk)
  .use(observe.usage())
