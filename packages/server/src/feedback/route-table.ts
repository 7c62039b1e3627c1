import { isComment, maxCommentBytes, maxTagLength, maxTags } from '@allium/store/feedback'
import { list, object } from '../request/containers.ts'
import { id, isPrintable, owner } from '../request/fields.ts'
import { route } from '../request/route.ts'
import { described, mapped, optional, type Schema, text } from '../request/schema.ts'
import { rejection, violation } from '../request/value-location.ts'

const expectedScore = '"up", "down", or a number from 0 to 1'

/** Thumbs up are 1, thumbs down are 0. */
const score: Schema<number> = {
  expected: expectedScore,
  json: { oneOf: [{ enum: ['up', 'down'] }, { type: 'number', minimum: 0, maximum: 1 }] },
  parse(value, location) {
    if (value === 'up' || value === 'down') return value === 'up' ? 1 : 0
    if (typeof value === 'number' && value >= 0 && value <= 1) return value
    throw violation(location, expectedScore, value)
  },
}

const comment = text({
  max: maxCommentBytes,
  accepts: isComment,
  expected: `a text of at most ${maxCommentBytes} UTF-8 bytes`,
})

const tag = text({
  min: 1,
  max: maxTagLength,
  accepts: isPrintable,
  expected: `a tag of 1 to ${maxTagLength} characters`,
})

const tags = mapped(list(tag, { max: maxTags }), (value, location) => {
  if (new Set(value).size < value.length) throw rejection(location, 'must have each tag only once.')
  return value
})

const run = described(id, 'The id of the run, or of the message that shows its answer.')

/** The routes of feedback: what each accepts and returns. */
export const routes = {
  put: route({
    method: 'put',
    path: '/sessions/:id/runs/:run/feedback',
    summary: 'Give feedback on a run, in place of your earlier one',
    params: { run },
    query: { owner },
    body: object({
      score: described(score, 'Thumbs, or a number: 1 is the best.'),
      comment: optional(comment),
      tags: described(optional(tags), 'Reasons that the page offers, such as "wrong price".'),
    }),
    bodyName: 'feedbackBody',
    answers: { 200: 'Feedback' },
  }),
  remove: route({
    method: 'delete',
    path: '/sessions/:id/runs/:run/feedback',
    summary: 'Remove your feedback on a run',
    params: { run },
    query: { owner },
    answers: { 204: null },
  }),
  own: route({
    method: 'get',
    path: '/sessions/:id/feedback',
    summary: 'List your own feedback on the last runs of the session',
    query: { owner },
    answers: { 200: 'FeedbackList' },
  }),
}
