import { expect, it } from 'vitest'
import { backoff } from '../../src/resilience.ts'

const options = { delay: 100, maxDelay: 350, jitter: 0.5, random: () => 0 }

it('doubles the wait up to the longest', () => {
  expect([1, 2, 3, 4].map((attempt) => backoff(attempt, options))).toEqual([100, 200, 350, 350])
})

it('leaves the part that jitter says to chance', () => {
  expect(backoff(1, { ...options, random: () => 1 })).toBe(50)
})
