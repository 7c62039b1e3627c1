import { setTimeout as sleep } from 'node:timers/promises'
import type { Message, Model, ModelChunk } from 'allium'

/** A script in place of a model, so that the example needs no key. It streams a word every 40 ms. */
export const demoModel: Model = {
  id: 'demo/script',
  async *stream({ messages, signal }) {
    const last = messages.at(-1)
    const text = textOf(last)
    if (last?.role === 'user' && /refund/i.test(text)) {
      yield* refundCall(`call-${messages.length}`)
      return
    }
    for (const word of answerTo(last, text).split(/(?<= )/)) {
      await sleep(40, undefined, { signal })
      yield { type: 'text-delta', delta: word }
    }
    yield { type: 'finish', reason: 'stop', usage: { inputTokens: 10, outputTokens: 20 } }
  },
}

function answerTo(last: Message | undefined, text: string): string {
  if (last?.role === 'tool') return 'Thank you. I have noted the outcome of the refund.'
  if (/long/i.test(text)) return `${'An onion has many layers, and each of them has a story. '.repeat(12)}That is all.`
  return `You wrote: ${text}\n\nAsk for a refund, or for a long answer.`
}

function textOf(message: Message | undefined): string {
  const content = message?.content ?? ''
  if (typeof content === 'string') return content
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(' ')
}

function* refundCall(callId: string): Generator<ModelChunk> {
  yield { type: 'text-delta', delta: 'I can refund that order. ' }
  yield { type: 'tool-input-start', callId, name: 'refund' }
  yield { type: 'tool-input-delta', callId, delta: JSON.stringify({ order: 7, cents: 4900 }) }
  yield { type: 'tool-input-end', callId }
  yield { type: 'finish', reason: 'tool-calls', usage: { inputTokens: 10, outputTokens: 20 } }
}
