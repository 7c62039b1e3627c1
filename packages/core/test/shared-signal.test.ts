import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { manualClock } from '../../testing/src/index.ts'
import { delay, followSignal } from '../src/index.ts'
import { build, failure } from './kit.ts'

const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length

describe('a signal that many share', () => {
  it('gets one listener for all runs, and none once they have ended', async () => {
    const { agent } = build(Array.from({ length: 20 }, () => ({ chunks: ['a'], stall: true })))
    const controller = new AbortController()
    const runs = Array.from({ length: 20 }, () => agent.run('hi', { signal: controller.signal }))
    await new Promise((resolve) => setTimeout(resolve))
    expect(listeners(controller.signal)).toBe(1)
    runs[0]?.abort()
    controller.abort('enough')
    const reasons = await Promise.all(runs.slice(1).map(async (run) => (await failure(run)).reason))
    expect([new Set(reasons), listeners(controller.signal)]).toEqual([new Set(['enough']), 0])
  })

  it('gets one for all that wait by a clock', async () => {
    const clock = manualClock()
    const { signal } = new AbortController()
    const waits = Array.from({ length: 20 }, () => delay(10, clock, signal))
    expect(listeners(signal)).toBe(1)
    await clock.advance(10)
    await Promise.all(waits)
    expect(listeners(signal)).toBe(0)
  })

  it('tells each follower once, at once where it has aborted, and none that was released on the way', () => {
    const controller = new AbortController()
    const told: unknown[] = []
    const follow = (name: string, then = () => {}) =>
      followSignal(controller.signal, (reason) => {
        told.push(`${name} ${reason}`)
        then()
      })
    follow('a', () => release())
    const release = follow('b')
    follow('c')
    controller.abort('now')
    controller.abort('again')
    follow('d')
    expect(told).toEqual(['a now', 'c now', 'd now'])
  })
})
