import type { FeedbackEvent } from '@allium/store'
import { expect, it } from 'vitest'
import { feedbackEvaluations } from '../../src/otel.ts'

const run = { key: { tenant: 'acme', owner: 'ann', agent: 'support', sessionId: 'chat' }, turnId: 'turn-1' }
const stored = (score: number): FeedbackEvent => ({
  ...{ type: 'feedback:stored', run, by: 'ann' },
  feedback: { run, by: 'ann', score, comment: 'Wrong price', at: 1 },
})

function sent(options?: Parameters<typeof feedbackEvaluations>[1]) {
  const records: object[] = []
  const listener = feedbackEvaluations({ emit: ({ context: _, ...record }) => void records.push(record) }, options)
  return { records, listener }
}

it('sends feedback as the result of an evaluation, with the ids that the spans of its turn have', () => {
  const { records, listener } = sent()
  listener(stored(0))
  expect(records).toEqual([
    {
      eventName: 'gen_ai.evaluation.result',
      attributes: {
        'gen_ai.evaluation.name': 'user_feedback',
        'gen_ai.evaluation.score.value': 0,
        'gen_ai.evaluation.score.label': 'down',
        'gen_ai.conversation.id': 'chat',
        'allium.turn.id': 'turn-1',
        'allium.tenant': 'acme',
      },
    },
  ])
})

it.each([
  [1, 'up'],
  [0.5, 'neutral'],
  [0.2, 'down'],
])('labels the score %d as %s', (score, label) => {
  const { records, listener } = sent()
  listener(stored(score))
  expect(records).toMatchObject([{ attributes: { 'gen_ai.evaluation.score.label': label } }])
})

it('sends comments only if content is on, and nothing when feedback is removed', () => {
  const { records, listener } = sent({ content: true, name: 'thumbs' })
  listener(stored(0))
  listener({ type: 'feedback:removed', run, by: 'ann' })
  const attributes = { 'gen_ai.evaluation.explanation': 'Wrong price', 'gen_ai.evaluation.name': 'thumbs' }
  expect(records).toMatchObject([{ attributes }])
})
