import { expect, test } from 'vitest'
import { chatTurns } from '../web/parts/chat-turns.ts'
import type { Conversation, StoredMessage, StoredTurn } from '../web/store/sessions.ts'

const user = (content: string): StoredMessage => ({ role: 'user', content })
const assistant = (content: string): StoredMessage => ({ role: 'assistant', content })
const stored = (turnId: string, status: string, messages: StoredMessage[]) =>
  ({ turnId, status, messages, skipped: 0, endedAt: 1 }) as StoredTurn
const shown = (...turns: StoredTurn[]) => chatTurns({ turns } as Conversation, [])

test('a fork shows the turns that it copied, and its first own turn can be edited with them', () => {
  const history = [user('a'), assistant('A'), user('b'), user('c'), assistant('B')]
  const turns = shown(stored('fork:1', 'closed', history), stored('t', 'completed', [user('d'), assistant('D')]))
  expect(turns.map(({ input, status }) => [input, status])).toEqual([
    ['a', 'copied'],
    ['b\nc', 'copied'],
    ['d', 'completed'],
  ])
  expect(turns.map(({ isStored }) => isStored)).toEqual([false, false, true])
  expect(turns.at(-1)?.previous).toBe('fork:1')
  expect(new Set(turns.map(({ turnId }) => turnId)).size).toBe(3)
})

test('a turn of an earlier visit shows the time, the tokens and the cost that were stored', () => {
  const usage = { inputTokens: 10, outputTokens: 5, calls: 1 }
  const turn = (turnId: string, sessionCost: number) => ({
    ...stored(turnId, 'completed', [user('a'), assistant('A')]),
    startedAt: 10,
    endedAt: 40,
    usage,
    sessionCost,
  })
  const turns = shown(turn('a', 0.5), turn('b', 0.75))
  expect(turns.map(({ duration, usage, usd }) => [duration, usage?.inputTokens, usd])).toEqual([
    [30, 10, 0.5],
    [30, 10, 0.25],
  ])
})

test('the closed turn of a session that was not forked is left out', () => {
  const turns = shown(stored('t', 'completed', [user('a'), assistant('A')]), stored('c', 'closed', []))
  expect(turns.map(({ turnId }) => turnId)).toEqual(['t'])
})
