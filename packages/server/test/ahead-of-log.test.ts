import { Agent } from '@allium/core'
import { type EventLog, memoryEventLog, memoryStore } from '@allium/store'
import { manualClock } from '@allium/testing'
import { expect, onTestFinished, test } from 'vitest'
import { allOf, ask, asStream, eventsOf, gated, kept, listen, silent } from './kit.ts'

/** A server whose process opens its run in the log, and is lost before it writes another event. */
async function lostServer() {
  const clock = manualClock()
  const [sessions, log, { model, text }] = [memoryStore({ clock }), memoryEventLog(), gated()]
  let fail = (_: Error) => {}
  const stalled = new Promise<never>((_, reject) => (fail = reject))
  stalled.catch(() => {})
  const append: EventLog['append'] = (run, epoch, events, options) =>
    events.length === 0 && options?.end !== true ? log.append(run, epoch, events, options) : stalled
  const gone = kept(new Agent({ model, logger: silent, clock: manualClock() }), sessions)
  const lost = await listen(gone.agent, { sessions, events: { ...log, append } })
  const next = await listen(kept(new Agent({ model, logger: silent }), sessions).agent, {
    sessions,
    events: log,
    clock,
  })
  onTestFinished(() => fail(new Error('lost')))
  text('one ')
  const stream = eventsOf(await ask(`${lost.url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream }))
  const ids: string[] = []
  for await (const { id, event } of stream) {
    ids.push(id as string)
    if (event === 'text-delta') break
  }
  return {
    ids,
    clock,
    from: (id: string) => ask(`${next.url}/sessions/a/events`, { headers: { 'last-event-id': id } }),
  }
}

test('readers get each event before it is in the log, and after a kill any of them gets run.interrupted', async () => {
  const { ids, clock, from } = await lostServer()
  expect(ids.length).toBeGreaterThan(2)
  const reading = await Promise.all(ids.map(from))
  await clock.advance(30_000)
  for (const response of reading)
    expect((await allOf(response)).map(({ data }) => JSON.parse(data).code)).toEqual(['run.interrupted'])
})

test('a reader that comes after the end of a lost run gets it too, and then has nothing more to come', async () => {
  const { ids, clock, from } = await lostServer()
  const first = await from(ids[0] as string)
  await clock.advance(30_000)
  await allOf(first)
  for (const id of ids) {
    const [end, ...more] = await allOf(await from(id))
    expect([JSON.parse(end?.data as string).code, more]).toEqual(['run.interrupted', []])
    expect((await from(end?.id as string)).status).toBe(204)
  }
})

test('a place far beyond the log of a run in another process has nothing to come: 204', async () => {
  const { ids, from } = await lostServer()
  expect((await from((ids[0] as string).replace(/^\d+/, '5000'))).status).toBe(204)
})
