import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { systemClock } from '../src/index.ts'

const day = 24 * 3_600_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('the system clock waits for longer than setTimeout can, and can be told not to', () => {
  const rung: string[] = []
  systemClock.after(30 * day, () => rung.push('month'))
  systemClock.after(1000 * day, () => rung.push('years'))
  const cancel = systemClock.after(60 * day, () => rung.push('cancelled'))
  vi.advanceTimersByTime(30 * day - 1)
  expect(rung).toEqual([])
  vi.advanceTimersByTime(1)
  expect(rung).toEqual(['month'])
  vi.advanceTimersByTime(20 * day)
  cancel()
  vi.advanceTimersByTime(950 * day)
  expect(rung).toEqual(['month', 'years'])
  expect(vi.getTimerCount()).toBe(0)
})
