import { expect, test } from 'vitest'
import { callOf } from '../web/history.ts'
import { sentenceOf } from '../web/sentence-of.ts'

test('a call of the history keeps its arguments, and its token while it waits for a decision', () => {
  const call = { type: 'tool-refund', toolCallId: 'c1', input: { number: '17', cents: 4900 } }
  const shown = { callId: 'c1', name: 'refund', args: call.input }
  expect(callOf({ ...call, state: 'approval-requested', approval: { id: 'token' } })).toEqual({
    ...shown,
    isPending: true,
    hasFailed: false,
    token: 'token',
  })
  expect(callOf({ ...call, state: 'output-error' })).toEqual({ ...shown, isPending: false, hasFailed: true })
  expect(callOf({ type: 'text', text: 'Hello.' })).toBeUndefined()
})

test('an error is explained to the user without names of the code', () => {
  expect(sentenceOf({ code: 'approval.unknown', message: 'No call "c1" waits.' })).toBe(
    'This request is no longer waiting for a decision.',
  )
  expect(sentenceOf({ code: 'guard.rate_limit', message: 'Wait a minute.' })).toBe('Wait a minute.')
  expect(sentenceOf(new TypeError('Failed to fetch'))).toBe('The server cannot be reached. Try again.')
  expect(sentenceOf(new Error('x is undefined'))).toBe('Something went wrong. Try again in a moment.')
})
