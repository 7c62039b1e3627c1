import { expect, test } from 'vitest'
import { memoryEventLog } from '../src/index.ts'

const run = { key: { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'a' }, turnId: 'one' }

test('a reader takes at once what is here, waits for what is to come, and meets each event once', async () => {
  const log = memoryEventLog()
  await log.append(run, 1, ['a', 'b', 'c'])
  const reader = log.read(run, 0)
  expect(await reader.next()).toMatchObject({ value: { seq: 1, event: 'a' } })
  expect([reader.take?.(), reader.take?.(), reader.take?.()]).toEqual([
    { seq: 2, event: 'b' },
    { seq: 3, event: 'c' },
    undefined,
  ])
  const next = reader.next()
  expect(reader.take?.()).toBeUndefined()
  await log.append(run, 1, ['d', 'e'], { end: true })
  expect(await next).toMatchObject({ value: { seq: 4, event: 'd' } })
  expect(reader.take?.()).toEqual({ seq: 5, event: 'e' })
  expect(await reader.next()).toEqual({ value: undefined, done: true })
})

test('one who has left takes nothing any more, and every next() that waits ends', async () => {
  const log = memoryEventLog()
  await log.append(run, 1, [])
  const left = new AbortController()
  const reader = log.read(run, 0, left.signal)
  const waiting = [reader.next(), reader.next()]
  left.abort()
  await log.append(run, 1, ['late'])
  expect(await Promise.all(waiting)).toEqual([1, 2].map(() => ({ value: undefined, done: true })))
  expect(reader.take?.()).toBeUndefined()
})

test('runs whose parts read the same together are not taken for each other', async () => {
  const log = memoryEventLog()
  await log.append(run, 1, ['mine'], { end: true })
  const other = { key: { tenant: 'acm', owner: 'eann', agent: 'agent', sessionId: 'a' }, turnId: 'one' }
  expect(await log.read(other, 0).next()).toEqual({ value: undefined, done: true })
})
