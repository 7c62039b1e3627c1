import { expect, test } from 'vitest'
import { type AnswerItem, addToAnswer } from '../web/store/answer.ts'

function answerOf(...events: { type: string; [field: string]: unknown }[]): AnswerItem[] {
  const items: AnswerItem[] = []
  for (const event of events) addToAnswer(items, event)
  return items
}

test('shows the arguments of a call while they stream, then those that run, then the result', () => {
  const call = { callId: 'c1', name: 'look_up' }
  const begin = [
    { type: 'tool-input-start', ...call },
    { type: 'tool-input-delta', callId: 'c1', delta: '{"number":' },
  ]
  const rest = [
    { type: 'tool:start', ...call, args: { number: '7' } },
    { type: 'tool:end', ...call, status: 'ok', content: 'a lamp' },
  ]
  expect(answerOf(...begin)).toMatchObject([{ args: '{"number":', status: 'calling' }])
  expect(answerOf(...begin, ...rest)).toMatchObject([{ args: { number: '7' }, status: 'ok', result: 'a lamp' }])
})

test('shows a file as soon as the model has made it, and names one that is elsewhere', () => {
  const file = { type: 'file', mediaType: 'image/png', bytes: 9, file: 'a1' }
  const elsewhere = { type: 'file', mediaType: 'image/png', data: 'https://files.test/a.png' }
  expect(answerOf(file, elsewhere)).toEqual([
    { kind: 'file', file },
    { kind: 'text', text: '[file image/png]' },
  ])
})

test('drops the text of an attempt that is discarded, but not the steps before it', () => {
  const items = answerOf(
    { type: 'step:start', stepIndex: 0 },
    { type: 'text-delta', delta: 'First. ' },
    { type: 'step:start', stepIndex: 1 },
    { type: 'text-delta', delta: 'Wrong' },
    { type: 'model:reset' },
    { type: 'text-delta', delta: 'Right' },
  )
  expect(items.map((item) => ('text' in item ? item.text : ''))).toEqual(['', 'First. ', '', 'Right'])
})
