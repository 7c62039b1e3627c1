import { feedbackTags, feedbackTagsOf } from '@allium/store/feedback'
import { expect, it } from 'vitest'
import { memoryStore } from '../src/index.ts'

const key = { tenant: 'acme', owner: 'ann', agent: 'support', sessionId: 'chat' }

it.each([
  [[{ score: 1 }], ['feedback:up']],
  [[{ score: 0, comment: 'Wrong' }], ['feedback:comment', 'feedback:down']],
  [[{ score: 0.5 }], []],
  [
    [{ score: 1 }, { score: 0, tags: ['price'] }, { score: 0, tags: ['price'] }],
    ['feedback:down', 'feedback:tag:price', 'feedback:up'],
  ],
])('the feedback %j gives a case the tags %j', (feedback, tags) => {
  expect(feedbackTags(feedback)).toEqual(tags)
})

it('tags the runs that have feedback, however many runs there are', async () => {
  const { feedback } = memoryStore()
  const runs = Array.from({ length: 2500 }, (_, i) => ({ key, turnId: `turn ${i}` }))
  for (const i of [3, 2400]) await feedback.put({ run: { key, turnId: `turn ${i}` }, by: 'ann', score: 0, at: 1 })
  const tagged = await feedbackTagsOf(feedback, runs)
  expect(tagged.map(({ run, tags }) => [run.turnId, tags])).toEqual([
    ['turn 3', ['feedback:down']],
    ['turn 2400', ['feedback:down']],
  ])
})
