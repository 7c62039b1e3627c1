import { checkEqual, checkRejects } from '../check.ts'
import { bytesOf, largeValues } from '../store/blob-cases.ts'
import { chat, type EventLogCases, eventsIn, Reader, run } from './bench.ts'

/** Cases for images and files in events: a log may store their bytes separately. */
export const eventBlobCases: EventLogCases = {
  async 'gives back events with large bytes, base64 and data URLs as they were appended'(bench) {
    const { log, other } = bench
    const files = largeValues().map((data) => ({ event: { type: 'file', data, mediaType: 'image/png' } }))
    const posing = [{ $blob: 0 }, '{"$blobs":[]}\n{"$blob":0}', { $$blob: 0 }]
    await log.append(run, 1, [...files, ...posing])
    const live = new Reader(bench, log)
    const elsewhere = new Reader(bench, other, { after: 3 })
    const expected = [...files, ...posing]
    checkEqual(
      (await live.read(expected.length)).map(({ event }) => event),
      expected,
      'A reader here gets them',
    )
    const rest = (await elsewhere.read(expected.length - 3)).map(({ event }) => event)
    checkEqual(rest, expected.slice(3), 'and one of another process that reconnects')
    await log.append(run, 1, [bytesOf(270_000)], { end: true })
    checkEqual(await eventsIn(bench, other, run, expected.length), [bytesOf(270_000)], 'and the events after them')
    await live.cancel()
    await elsewhere.cancel()
  },

  async 'takes its own copy of the bytes of an event before it waits for anything, and keeps the order'(bench) {
    const { log, other } = bench
    const data = bytesOf(1_000_000)
    const appends = [log.append(run, 1, [data]), log.append(run, 1, ['next'], { end: true })]
    data.fill(0)
    await Promise.all(appends)
    checkEqual(await eventsIn(bench, other), [bytesOf(1_000_000), 'next'], 'Events have the order of the appends')
  },

  async 'keeps the images of a run until the run is deleted, also where another run has the same'(bench) {
    const { log, other } = bench
    const [one, two] = [run, { key: { ...chat, sessionId: 'other' }, turnId: 'other:1' }]
    const image = bytesOf(270_000)
    for (const of of [one, two]) await log.append(of, 1, [image], { end: true })
    await log.delete(one.key)
    checkEqual(await eventsIn(bench, other, one), [], 'A run that was deleted has no events')
    checkEqual(await eventsIn(bench, other, two), [image], 'The other run keeps its image')
    await log.append(one, 2, [image], { end: true })
    checkEqual(await eventsIn(bench, other, one), [image], 'A run that starts again can store it again')
  },

  async 'keeps no image of a run that was deleted or taken over meanwhile'(bench) {
    const { log, other } = bench
    const image = bytesOf(1_000_000)
    await log.append(run, 1, ['begun'])
    const late = log.append(run, 1, [image], { mustExist: true }).catch(() => {})
    await Promise.all([late, other.delete(chat)])
    // A log that may lose runs does not reject it.
    await log.append(run, 1, [image], { mustExist: true }).catch(() => {})
    checkEqual(await eventsIn(bench, other), [], 'A run that was deleted while an image was appended stays deleted')
    const next = { ...run, turnId: 'chat:2' }
    await log.append(next, 1, ['begun'])
    await other.append(next, 2, [image])
    await checkRejects(log.append(next, 1, [image], { mustExist: true }), 'store.fenced', 'append() of a lost process')
    await other.append(next, 2, [], { end: true })
    checkEqual(
      await eventsIn(bench, other, next),
      ['begun', image],
      'The process that took over has appended its image',
    )
  },
}
