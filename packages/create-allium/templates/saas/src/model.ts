import type { Model, ModelRequest } from 'allium'
import { scriptedModel } from 'allium/testing'

/** Returns the real model if its key is set, and a scripted one otherwise. */
export function chooseModel(env: NodeJS.ProcessEnv): { model: Model | string; note: string } {
  if (env.OPENAI_API_KEY) return { model: 'openai/gpt-5-mini', note: 'openai/gpt-5-mini' }
  return { model: demoModel, note: 'a script, because OPENAI_API_KEY is not set' }
}

/** Plays a model without a network: it looks up the order that the user names, and refunds it on request. */
const demoModel: Model = {
  id: 'openai/gpt-5-mini', // so that the layers count its price
  stream: (request) => scriptedModel([reply(request)]).stream(request),
}

const noNumber = 'This is a scripted answer. Try "Where is order 17?" or "My lamp of order 17 is broken."'

function reply({ messages }: ModelRequest) {
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'user'))
  const question = JSON.stringify(turn[0]?.content ?? '')
  const number = /\d+/.exec(question)?.[0]
  if (number === undefined) return noNumber
  const results = turn.filter(({ role }) => role === 'tool')
  if (results.length === 0) return { toolCalls: [call('find_order', { number })] }
  const isRefund = /refund|broken|damaged|return|money/i.test(question)
  if (!isRefund) return { chunks: [`Order ${number} is a desk lamp. `, 'It was delivered.'] }
  if (results.length === 1)
    return {
      chunks: [`Order ${number} is a desk lamp. `, 'I can refund it.'],
      toolCalls: [call('refund', { number, cents: 4900 })],
    }
  const isDenied = JSON.stringify(results.at(-1)?.content).includes('denied')
  return { chunks: [isDenied ? 'I have not refunded ' : 'I have refunded ', `order ${number}.`] }
}

function call(name: string, args: Record<string, unknown>) {
  return { name, callId: crypto.randomUUID(), args }
}
