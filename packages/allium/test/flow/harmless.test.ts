import { describe, expect, it } from 'vitest'
import { harmless, setUp } from './harmless.ts'

describe('guard.flow around harmless work', () => {
  it('lets 60 tasks come to their end but for links, and asks about few', async () => {
    const bare = await harmless(() => undefined)
    expect([bare.tasks, bare.complete, bare.unasked]).toEqual([60, 60, 60])
    const guarded = await harmless(setUp)
    const wrong = guarded.done.filter(({ isComplete }) => !isComplete).map(({ task }) => task)
    expect(wrong).toEqual(expect.arrayContaining([expect.stringContaining('example.com')]))
    expect([guarded.complete, guarded.unasked]).toEqual([58, 52])
  })
})
