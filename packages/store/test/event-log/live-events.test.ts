import { expect, it } from 'vitest'
import { LiveEvents, maxUnlogged } from '../../src/event-log/live-events.ts'
import { memoryEventLog } from '../../src/index.ts'

const run = { key: { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }, turnId: 't' }
const entriesOf = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ event: { type: 'text-delta' as const, delta: `${at}` } }))

function live() {
  const log = memoryEventLog()
  const events = new LiveEvents((after) => log.read(run, after))
  const leave = new AbortController()
  return { log, events, leave, reader: events.read(0, leave.signal, Promise.resolve()) }
}

it('gives a waiting reader each event before it is in the log', async () => {
  const { events, reader } = live()
  const next = reader.next()
  events.push(entriesOf(2))
  expect([(await next).value?.seq, reader.take()?.seq, reader.take()]).toEqual([1, 2, undefined])
})

it('lets a reader that is far ahead of the log wait until the log has caught up', async () => {
  const { events, reader } = live()
  events.push(entriesOf(maxUnlogged + 1))
  for (let seq = 1; seq <= maxUnlogged; seq++) expect(reader.take()?.seq).toBe(seq)
  const next = reader.next()
  events.logged(maxUnlogged)
  expect((await next).value?.seq).toBe(maxUnlogged + 1)
})

it('gives a slow reader the logged events from the log, then the rest', async () => {
  const { log, events, reader } = live()
  const entries = entriesOf(3)
  await log.append(run, 1, entries.slice(0, 2))
  events.push(entries)
  events.logged(2)
  const seqs = [await reader.next(), await reader.next(), await reader.next()].map(({ value }) => value?.seq)
  expect(seqs).toEqual([1, 2, 3])
})

it('ends a waiting reader when it leaves, and when the run ends', async () => {
  const { events, leave, reader } = live()
  const other = events.read(0, new AbortController().signal, Promise.resolve())
  const [left, ended] = [reader.next(), other.next()]
  leave.abort()
  events.end()
  expect([await left, await ended]).toEqual([
    { value: undefined, done: true },
    { value: undefined, done: true },
  ])
})
