import { performance } from 'node:perf_hooks'
import { expect, it } from 'vitest'
import { ServerClock } from '../src/database/server-clock.ts'

const hour = 3_600_000

it('never takes a start for later than it was by the clock of the server, however slow the looks are', async () => {
  const server = () => performance.timeOrigin + performance.now() + hour
  const clock = new ServerClock(async () => {
    const told = server()
    // The reply takes a while.
    for (const end = performance.now() + 3; performance.now() < end; ) await Promise.resolve()
    return told
  })
  const [since, truly] = [Date.now(), server()]
  const time = await clock.toServerTime(since)
  expect(time).toBeLessThanOrEqual(truly)
  expect(truly - time).toBeLessThan(hour / 2)
})

it('looks at the server once for all that ask, and not again soon', async () => {
  let looks = 0
  const clock = new ServerClock(async () => ++looks)
  await Promise.all([clock.toServerTime(1), clock.toServerTime(2), clock.toServerTime(3)])
  await clock.toServerTime(4)
  expect(looks).toBe(3)
})
