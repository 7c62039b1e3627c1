import { setTimeout } from 'node:timers/promises'
import { type Model, type ModelRequest, textOf } from 'allium'

/** Plays a model that answers for ever: 20 tokens in, 100 out. Of a question that names a storm the first answer is cut off. */
export function playedModel(): Model {
  const stormy = new Set<string>()
  return {
    id: 'played/model',
    async *stream({ messages, signal }: ModelRequest) {
      const question = messages.slice(-1).map(textOf).join()
      yield { type: 'text-delta', delta: 'Let me see: ' }
      if (question.includes('storm') && !stormy.has(question)) {
        stormy.add(question)
        return // no finish: the line is down
      }
      await setTimeout(30, undefined, { signal })
      yield { type: 'text-delta', delta: 'yes.' }
      yield { type: 'finish', reason: 'stop', usage: { inputTokens: 20, outputTokens: 100 } }
    },
  }
}
