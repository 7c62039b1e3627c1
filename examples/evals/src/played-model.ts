import { type Model, type ModelRequest, textOf } from 'allium'
import { scriptedModel } from 'allium/testing'
import type { Order } from './orders.ts'
import { phrases } from './phrases.ts'
import { type Question, questionOf } from './question.ts'
import { promptRules, type RuleName } from './support-agent.ts'

/** Plays a model without a network. It keeps to the rules that are in its prompt, and only to those. */
export const playedModel: Model = {
  id: 'played/support',
  stream: (request) => {
    const reply = replyTo(request)
    const usage = { inputTokens: tokensOf(request.messages), outputTokens: tokensOf(reply) }
    return scriptedModel([typeof reply === 'string' ? { text: reply, usage } : { toolCalls: [reply], usage }]).stream(
      request,
    )
  },
}

interface Call {
  readonly name: string
  readonly callId: string
  readonly args: Record<string, unknown>
}

function replyTo({ messages }: ModelRequest): string | Call {
  const has = rulesOf(messages)
  const question = questionOf(messages)
  const done = resultsOf(messages)
  const call = (name: string, args: Record<string, unknown>): Call => ({ name, callId: `${name}-${done.size}`, args })
  const say = (name: keyof typeof phrases, order = placeholder(question), euros = 0) => {
    const { language, isUpset } = question
    const spoken = has('language') ? language : 'en'
    const apology = isUpset && has('apology') ? `${phrases.apology[spoken]()} ` : ''
    return apology + phrases[name][spoken](order, euros)
  }
  if (question.isLegal && has('handOver'))
    return done.has('hand_over') ? say('handedOver') : call('hand_over', { reason: 'legal' })
  const { order: number } = question
  if (number === undefined) return say('hours')
  if (has('lookUp') && !done.has('find_order')) return call('find_order', { number })
  const order = done.get('find_order') as Order | undefined
  if (order !== undefined && order.price === undefined) return say('unknown')
  switch (question.intent) {
    case 'refund': {
      if (order !== undefined && has('delivered') && order.status !== 'delivered') return say('offerCancel', order)
      const price = order?.price ?? 5000
      const cents = has('price') ? Math.min(question.cents ?? price, price) : (question.cents ?? price)
      if (!done.has('refund')) return call('refund', { number, cents })
      return say(done.get('refund') === undefined ? 'person' : 'refunded', order, cents / 100)
    }
    case 'cancel': {
      if (!done.has('cancel')) return call('cancel', { number })
      return say((done.get('cancel') as { cancelled?: boolean }).cancelled ? 'cancelled' : 'tooLate', order)
    }
    case 'note':
      return say(has('note') ? 'noNote' : 'note', order)
    default:
      return say(order === undefined ? 'guess' : 'status', order)
  }
}

/** Returns whether a rule is in the prompt. */
function rulesOf(messages: ModelRequest['messages']): (name: RuleName) => boolean {
  const prompt = messages.filter(({ role }) => role === 'system').map(textOf)
  return (name) => prompt.some((text) => text.includes(promptRules[name]))
}

/** The results since the last question, by tool. A call that was denied has the result undefined. */
function resultsOf(messages: ModelRequest['messages']): Map<string, unknown> {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const parts = messages.slice(last + 1).flatMap(({ content }) => (typeof content === 'string' ? [] : content))
  return new Map(parts.flatMap((part) => (part.type === 'tool-result' ? [[part.name, jsonOf(part.content)]] : [])))
}

function jsonOf(content: unknown): unknown {
  try {
    return JSON.parse(String(content))
  } catch {
    return undefined
  }
}

function placeholder({ order = '' }: Question): Order {
  return { number: order, item: 'order', price: 0, status: 'on its way' }
}

function tokensOf(value: unknown): number {
  return Math.ceil(JSON.stringify(value).length / 4)
}
