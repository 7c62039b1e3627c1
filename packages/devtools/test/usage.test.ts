import { expect, test } from 'vitest'
import type { Conversation, StoredTurn } from '../web/store/sessions.ts'
import type { Turn } from '../web/store/trace.ts'
import { totalOf, usageBySession, usageByTurn } from '../web/store/usage.ts'

const usage = { inputTokens: 10, outputTokens: 5, calls: 1 }
const stored = (turnId: string, fields: Partial<StoredTurn>) =>
  ({ turnId, status: 'completed', endedAt: 1, usage, ...fields }) as StoredTurn
const conversation = (turns: StoredTurn[], before?: number) => ({ turns, ...(before && { before }) }) as Conversation
const live = (turnId: string, fields: Partial<Turn>) => ({ turnId, usd: 0, ...fields }) as Turn

test('the cost of a turn is what the session cost after it, without the turns before', () => {
  const turns = [stored('a', { sessionCost: 0.5 }), stored('b', { sessionCost: 0.7 }), stored('c', {})]
  const costs = usageByTurn(conversation(turns), []).map(({ cost }) => cost)
  expect(costs).toEqual([0.5, expect.closeTo(0.2), undefined])
  expect(usageByTurn(conversation(turns, 7), [])[0]?.cost).toBeUndefined()
})

test('a fork starts with the cost of the other session', () => {
  const closed = stored('fork', { status: 'closed', sessionCost: 2, usage: { ...usage, calls: 0 } })
  const rows = usageByTurn(conversation([closed, stored('a', { sessionCost: 3 })]), [])
  expect(rows.map(({ name, cost }) => [name, cost])).toEqual([['Turn 1', 1]])
})

test('a turn that is still running has the tokens and the cost so far', () => {
  const open = { ...stored('b', {}), endedAt: undefined } as unknown as StoredTurn
  const running = live('b', { usage: { inputTokens: 3, outputTokens: 1, calls: 1 }, usd: 0.1 })
  const rows = usageByTurn(conversation([stored('a', {}), open]), [running, live('c', {})])
  expect(rows.map(({ input, cost }) => [input, cost])).toEqual([
    [10, undefined],
    [3, 0.1],
    [0, undefined],
  ])
})

test('sessions without totals are left out, and the sum says whether its cost is complete', () => {
  const session = (id: string, fields: object) => ({ id, tenant: '', owner: 'ann', runs: 1, updatedAt: 1, ...fields })
  const rows = usageBySession([
    session('b', { tokens: usage, cost: 2, unpriced: 0 }),
    session('none', {}),
    session('a', { tokens: usage, cost: 1, unpriced: 1 }),
  ])
  expect(rows.map(({ name }) => name)).toEqual(['a', 'b'])
  expect(totalOf(rows)).toMatchObject({ input: 20, output: 10, calls: 2, cost: 3, isIncomplete: true })
  expect(totalOf(rows.slice(1)).isIncomplete).toBe(false)
})
