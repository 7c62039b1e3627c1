import { setTimeout } from 'node:timers/promises'
import { type Model, type ModelRequest, textOf } from 'allium'

/** A scripted model with the same answer to every question: 20 tokens in, 100 out. The first answer to a question about a storm is cut. */
export function playedModel(): Model {
  const stormy = new Set<string>()
  return {
    id: 'played/model',
    async *stream({ messages, signal }: ModelRequest) {
      const question = messages.slice(-1).map(textOf).join()
      yield { type: 'text-delta', delta: 'Let me see: ' }
      if (question.includes('storm') && !stormy.has(question)) {
        stormy.add(question)
        return // no finish: the connection was lost
      }
      await setTimeout(30, undefined, { signal })
      yield { type: 'text-delta', delta: 'yes.' }
      yield { type: 'finish', reason: 'stop', usage: { inputTokens: 20, outputTokens: 100 } }
    },
  }
}
