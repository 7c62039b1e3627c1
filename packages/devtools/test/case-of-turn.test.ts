import { parseCases } from '@allium/evals'
import { expect, test } from 'vitest'
import { caseOf, earlierThan, finalAnswer } from '../web/evals/case-of-turn.ts'
import type { ChatTurn } from '../web/parts/chat-turns.ts'

const turn = (turnId: string, input: string | undefined, text: string): ChatTurn => {
  const facts = {
    agent: 'support',
    previous: undefined,
    status: 'completed',
    reason: undefined,
    duration: 1,
    usage: undefined,
    usd: 0,
  }
  return { turnId, input, files: [], answer: [{ kind: 'text', text }], isStored: true, live: undefined, ...facts }
}
const turns = [
  turn('1', 'Hello', 'Hi!'),
  turn('2', 'Refund it', ''),
  turn('3', undefined, 'Done.'),
  turn('4', 'Bye', 'Bye!'),
]
const identity = { principal: { userId: 'jane' }, context: { plan: 'pro' } }
const [, second, , last] = turns as [ChatTurn, ChatTurn, ChatTurn, ChatTurn]

test('a case has the input, the earlier texts, the principal, the context and the tags', () => {
  const fields = { id: ' bye ', expected: 'Bye', tags: 'a, b,', earlier: earlierThan(last, turns), files: [] }
  const one = caseOf(last, identity, fields)
  expect(one).toMatchObject({ id: 'bye', expected: 'Bye', tags: ['a', 'b'], ...identity })
  expect((one.input as { content: string }[]).map(({ content }) => content)).toEqual([
    'Hello',
    'Hi!',
    'Refund it',
    'Done.',
    'Bye',
  ])
  expect(parseCases(JSON.stringify(one))).toEqual([one])
})

test('without earlier turns and without files, the input is a text, and an empty answer is not expected', () => {
  const one = caseOf(second, { principal: undefined }, { id: 'a', expected: ' ', tags: '', earlier: [], files: [] })
  expect(one).toEqual({ id: 'a', input: 'Refund it' })
})

test('the answer of a turn that waited is in the turn that resumed it', () => {
  expect(finalAnswer(second, turns)).toBe('Done.')
  expect(finalAnswer(last, turns)).toBe('Bye!')
})
