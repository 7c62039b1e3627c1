import { checkEqual } from '../check.ts'
import { type EventLogCases, eventsIn, Reader, run, withinTtl } from './bench.ts'

/** Cases: readers do not delay a run. */
export const readerCases: EventLogCases = {
  async 'continues live for early readers, until the run ends'(bench) {
    const { log, other } = bench
    await log.append(run, 1, [])
    const readers = [log, other].map((one) => new Reader(bench, one))
    const first = readers.map((reader) => reader.read(1))
    await log.append(run, 1, ['one'])
    const seen = (await Promise.all(first)).map(([one]) => one?.event)
    checkEqual(seen, ['one', 'one'], 'Waiting readers receive the next event')
    const rest = readers.map((reader) => reader.rest())
    await other.append(run, 1, ['two', 'three'])
    await log.append(run, 1, [], { end: true })
    const remaining = (await Promise.all(rest)).map((events) => events.map(({ event }) => event))
    checkEqual(
      remaining,
      [
        ['two', 'three'],
        ['two', 'three'],
      ],
      'Two readers receive the same events and the end',
    )
  },

  async 'does not wait for slow readers, and loses none of their events'(bench) {
    const { log, other } = bench
    await log.append(run, 1, [0])
    const slow = new Reader(bench, other)
    await slow.read(1)
    for (let i = 1; i <= 300; i++) await withinTtl(bench, log.append(run, 1, [i]), 'append() waits for no reader')
    await log.append(run, 1, [], { end: true })
    const late = (await slow.rest()).map(({ event }) => event)
    checkEqual(
      late,
      Array.from({ length: 300 }, (_, i) => i + 1),
      'A slow reader receives every event',
    )
  },

  async 'releases a reader whose signal aborts, or who cancels, even while it waits'(bench) {
    const { log, other } = bench
    await log.append(run, 1, ['one'])
    const aborting = new AbortController()
    const [aborted, left] = [new Reader(bench, other, { signal: aborting.signal }), new Reader(bench, other)]
    await Promise.all([aborted.read(1), left.read(1)])
    const ends = Promise.all([aborted.next(), left.next()])
    aborting.abort()
    await withinTtl(bench, left.cancel(), 'A reader that cancels does not wait for an event')
    const over = { done: true, value: undefined }
    checkEqual(
      await withinTtl(bench, ends, 'A released reader no longer waits'),
      [over, over],
      'A released reader receives nothing more',
    )
    const never = new Reader(bench, other, { signal: aborting.signal })
    checkEqual(await never.rest(), [], 'An aborted signal starts no reader')
    await log.append(run, 1, ['two'], { end: true })
    checkEqual(await eventsIn(bench, other), ['one', 'two'], 'and the run continues')
  },

  async 'gives a reconnecting reader the missed events, each once'(bench) {
    const { log, other } = bench
    const seen: unknown[] = []
    let after = 0
    for (let i = 0; i < 6; i++) {
      await (i % 2 === 0 ? log : other).append(run, 1, [`${i} a`, `${i} b`, `${i} c`], { end: i === 5 })
      const reader = new Reader(bench, i % 2 === 0 ? other : log, { after })
      for (const { seq, event } of await reader.read(2)) {
        after = seq
        seen.push(event)
      }
      await withinTtl(bench, reader.cancel(), 'A reader may leave')
    }
    seen.push(...(await eventsIn(bench, log, run, after)))
    checkEqual(seen, await eventsIn(bench, other), 'Reading a run in parts returns all its events')
  },
}
