import { expect, test } from 'vitest'
import { taskOf } from '../src/task.ts'

test('a task that an earlier version has given to Restate keeps its approver', () => {
  const rest = { sessionId: 's', idempotencyKey: 'k', decisions: {} }
  expect(taskOf(JSON.stringify({ ...rest, decider: { userId: 'lena' } }))).toEqual({
    ...rest,
    approver: { userId: 'lena' },
  })
  expect(taskOf(JSON.stringify(rest))).toEqual(rest)
})
