import { describe, expect, it } from 'vitest'
import { manualClock } from '../src/index.ts'

describe('manualClock', () => {
  it('fires due timers in the order of their time, each at its own time', async () => {
    const clock = manualClock(1000)
    const fired: [string, number][] = []
    clock.after(30, () => fired.push(['c', clock.now()]))
    clock.after(10, () => fired.push(['a', clock.now()]))
    clock.after(10, () => fired.push(['b', clock.monotonic()]))
    await clock.advance(20)
    expect(fired).toEqual([
      ['a', 1010],
      ['b', 10],
    ])
    expect([clock.now(), clock.monotonic(), clock.pending]).toEqual([1020, 20, 1])
  })

  it('fires timers that are set on the way, and none that were cancelled', async () => {
    const clock = manualClock()
    const fired: string[] = []
    const cancel = clock.after(15, () => fired.push('cancelled'))
    clock.after(10, async () => {
      cancel()
      await Promise.resolve()
      clock.after(5, () => fired.push('second'))
    })
    await clock.advance(15)
    expect(fired).toEqual(['second'])
    expect(clock.pending).toBe(0)
  })
})
