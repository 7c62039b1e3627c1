import type { Model, ModelRequest } from 'allium'
import { scriptedModel } from 'allium/testing'

/** Returns the real model if its key is set, and a scripted one otherwise. */
export function chooseModel(env: NodeJS.ProcessEnv): { model: Model | string; note: string } {
  if (env.OPENAI_API_KEY) return { model: 'openai/gpt-5-mini', note: 'openai/gpt-5-mini' }
  return { model: demoModel, note: 'a script, because OPENAI_API_KEY is not set' }
}

/** Plays a model without a network: it looks up order 7, asks for a refund, and answers. */
const demoModel: Model = {
  id: 'openai/gpt-5-mini', // so that the layers count its price
  stream: (request) => scriptedModel([reply(request)]).stream(request),
}

function reply({ messages }: ModelRequest) {
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'user'))
  const calls = turn.filter(({ role }) => role === 'tool').length
  if (calls === 0) return { toolCalls: [call('find_order', { number: '7' })] }
  if (calls === 1)
    return {
      chunks: ['Order 7 is a desk lamp. ', 'I can refund it.'],
      toolCalls: [call('refund', { number: '7', cents: 4900 })],
    }
  return { chunks: ['This is a scripted answer: ', 'the refund was handled as you decided.'] }
}

function call(name: string, args: Record<string, unknown>) {
  return { name, callId: crypto.randomUUID(), args }
}
