import { expect, test } from 'vitest'
import { storedTask } from '../src/task.ts'

test('a task that an earlier version has stored keeps its approver and what a retry may do', () => {
  const stored = { input: 'Hi', decider: { userId: 'lena' }, resets: 'refuse' }
  expect(storedTask(stored)).toEqual({ input: 'Hi', approver: { userId: 'lena' }, onRetryAfterOutput: 'fail' })
  expect(storedTask({ resets: 'allow' })).toEqual({ onRetryAfterOutput: 'reset' })
})

test('a task of this version, and a run without one, are read as they are', () => {
  const task = { input: 'Hi', approver: { userId: 'lena' }, onRetryAfterOutput: 'fail' }
  expect(storedTask(task)).toEqual(task)
  expect(storedTask(undefined)).toEqual({})
})
