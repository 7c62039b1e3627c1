import { Agent, BlockError } from '@allium/core'
import { budget, rateLimit } from '@allium/guard'
import { persist } from '@allium/memory'
import { memoryEventLog, memoryStore } from '@allium/store'
import { manualClock } from '@allium/testing'
import { describe, expect, test } from 'vitest'
import { agentOf, allOf, ask, asStream, eventsOf, gated, kept, kinds, listen, silent, textIn } from './kit.ts'

describe.each(kinds)('runs %s', (_, listen) => {
  test('answers a run as a whole', async () => {
    const { url } = await listen(agentOf(['Hello Ann.']))
    const response = await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' } })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({
      sessionId: 'a',
      status: 'completed',
      text: 'Hello Ann.',
      pending: [],
    })
  })

  test('streams a run, each event with a place of its own', async () => {
    const { url } = await listen(agentOf(['Hello Ann.']))
    const response = await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream })
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(response.headers.get('cache-control')).toContain('no-transform')
    expect(response.headers.get('x-accel-buffering')).toBe('no')
    const events = await allOf(response)
    expect(textIn(events)).toBe('Hello Ann.')
    expect([...new Set(events.map(({ event }) => event))]).toEqual([
      ...['turn:start', 'step:start', 'text-delta', 'finish', 'step:end', 'turn:end'],
    ])
    expect(events.map(({ id }) => Number(id?.split('.')[0]))).toEqual(events.map((_, at) => at + 1))
  })

  test('a session goes on where it was, and holds nothing of who asks next', async () => {
    const { url } = await listen(agentOf(['One.', 'Two.']))
    await ask(`${url}/sessions/a/runs`, { body: { input: 'first' } })
    await ask(`${url}/sessions/a/runs`, { body: { input: 'second' } })
    const { messages } = (await (await ask(`${url}/sessions/a/messages`)).json()) as { messages: { role: string }[] }
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
    expect((await ask(`${url}/sessions/a/messages`, { as: 'acme/bob' })).status).toBe(404)
  })

  test('a reader who comes back goes on behind the last event that they have', async () => {
    const { url } = await listen(agentOf(['One two three.']))
    const all = await allOf(await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream }))
    const back = await ask(`${url}/sessions/a/events`, { headers: { 'last-event-id': all[2]?.id as string } })
    expect(await allOf(back)).toEqual(all.slice(3))
  })

  test('a place beyond the end, or behind the last event of a run that has ended, has nothing to come: 204', async () => {
    const { url } = await listen(agentOf(['One two.']))
    const all = await allOf(await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream }))
    const run = all[0]?.id?.slice(2)
    const status = async (id: string) =>
      (await ask(`${url}/sessions/a/events`, { headers: { 'last-event-id': id } })).status
    expect(await status(`99.${run}`)).toBe(204)
    expect(await status(all.at(-1)?.id as string)).toBe(204)
    expect((await ask(`${url}/sessions/none/events`)).status).toBe(204)
  })

  test('a place at or beyond the end of an earlier run has nothing to come either: 204', async () => {
    const { url } = await listen(agentOf(['One two.', 'Three.']))
    const run = () => ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream })
    const [earlier] = [await allOf(await run()), await allOf(await run())]
    const from = (id = '') => ask(`${url}/sessions/a/events`, { headers: { 'last-event-id': id } })
    const last = earlier.at(-1)?.id
    expect([(await from(last)).status, (await from(last?.replace(/^\d+/, '999'))).status]).toEqual([204, 204])
    expect(await allOf(await from(earlier.at(-2)?.id))).toEqual(earlier.slice(-1))
  })

  test('a place that is garbage, or of another session, gets all of the last run', async () => {
    const { url } = await listen(agentOf(['One two.', 'Other.']))
    const all = await allOf(await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream }))
    const other = await allOf(await ask(`${url}/sessions/b/runs`, { body: { input: 'Hi' }, headers: asStream }))
    for (const id of ['nonsense', '-1.x', other[3]?.id as string])
      expect(await allOf(await ask(`${url}/sessions/a/events`, { headers: { 'last-event-id': id } }))).toEqual(all)
  })

  test('a reader who stands still holds up neither the run nor another reader', async () => {
    const { model, text, end } = gated()
    const { url } = await listen(new Agent({ version: '1', model }))
    const asked = ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream })
    text('begin ')
    const still = await asked
    const other = await ask(`${url}/sessions/a/events`)
    for (let n = 0; n < 20; n++) text('x'.repeat(100_000))
    end()
    expect(textIn(await allOf(other))).toHaveLength(2_000_006)
    await still.body?.cancel()
  })

  test.each([
    ['guard.rate_limit', 429],
    [undefined, 403],
  ])('a session that a layer keeps closed, with the code %s, is refused with %i', async (code, status) => {
    const closed = () => Promise.reject(new BlockError('Closed today.', { code }))
    const { url } = await listen(agentOf(['Hello.']).use('session', closed))
    const response = await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' } })
    expect([response.status, await response.json()]).toMatchObject([
      status,
      { code: code ?? 'run.blocked', message: 'Closed today.' },
    ])
  })

  test('a run goes on when its reader leaves, and is all there for who comes back', async () => {
    const { model, text, end } = gated()
    const { url } = await listen(new Agent({ version: '1', model }))
    const left = new AbortController()
    const asked = ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream, signal: left.signal })
    text('one ')
    for await (const { event } of eventsOf(await asked)) if (event === 'text-delta') break
    left.abort()
    text('two')
    end()
    expect(textIn(await allOf(await ask(`${url}/sessions/a/events`)))).toBe('one two')
  })

  test('a run that nobody reads any more is stopped by what its owner asks next, and kept as interrupted', async () => {
    const { model, text } = gated()
    const { url } = await listen(new Agent({ version: '1', model }))
    const left = new AbortController()
    const asked = ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream, signal: left.signal })
    text('one ')
    await asked
    left.abort()
    const again = () => ask(`${url}/sessions/a/runs`, { body: { input: 'Again' } })
    await expect.poll(async () => (await again()).status).toBe(200)
    const { messages } = (await (await ask(`${url}/sessions/a/messages`)).json()) as { messages: { parts: object[] }[] }
    expect(messages.map(({ parts }) => parts.at(-1))).toMatchObject([
      { text: 'Hi' },
      { text: 'one ' },
      { text: 'Again' },
      { text: 'Next.' },
    ])
  })

  test('while somebody reads a run another one is busy, with a time to come back', async () => {
    const { model, text, end } = gated()
    const { url } = await listen(new Agent({ version: '1', model }))
    const asked = ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream })
    text('one ')
    const first = await asked
    const second = await ask(`${url}/sessions/a/runs`, { body: { input: 'Me too' } })
    expect(second.status).toBe(409)
    expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await second.json()).toMatchObject({ code: 'session.busy' })
    end()
    await allOf(first)
  })

  test('one idempotency key is one run, also for two who ask at once; with another input it is refused', async () => {
    const { url } = await listen(agentOf(['Once.']))
    const headers = { 'idempotency-key': 'k' }
    const both = await Promise.all([1, 2].map(() => ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers })))
    const [one, two] = await Promise.all(both.map((response) => response.json() as Promise<{ turnId: string }>))
    expect(one).toEqual(two)
    const other = await ask(`${url}/sessions/a/runs`, { body: { input: 'Else' }, headers })
    expect([other.status, await other.json()]).toEqual([422, expect.objectContaining({ code: 'run.key_reused' })])
  })

  test('what a guard refuses has its status, in streams too', async () => {
    const poor = agentOf(['x', 'x']).use(budget({ limit: 1, unit: 'tokens', per: 'tenant' }))
    const { url } = await listen(poor)
    const runs = [{}, asStream].map((headers) =>
      ask(`${url}/sessions/a${headers === asStream}/runs`, { body: { input: 'Hi' }, headers }),
    )
    expect((await Promise.all(runs)).map(({ status }) => status)).toEqual([402, 402])
    const fast = agentOf(['x', 'x']).use(rateLimit({ rates: [{ limit: 1, window: 60_000, per: 'tenant' }] }))
    const limited = await listen(fast)
    await ask(`${limited.url}/sessions/a/runs`, { body: { input: 'Hi' } })
    const refused = await ask(`${limited.url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream })
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  test('a provider that fails at once is 502, and after the first chunk an event', async () => {
    const failed = Object.assign(new Error('key sk-123 is wrong'), { statusCode: 401 })
    const { url } = await listen(agentOf([{ error: failed }, { text: 'One', error: failed }]))
    const early = await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream })
    expect(early.status).toBe(502)
    expect(await early.text()).not.toContain('sk-123')
    const late = await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream })
    expect(late.status).toBe(200)
    const last = (await allOf(late)).at(-1)
    expect(last?.event).toBe('run:error')
    expect(JSON.parse(last?.data as string)).toMatchObject({ code: 'model.failed', status: 502 })
    expect(last?.data).not.toContain('sk-123')
  })

  test('headers go out after a while though nothing came, and signs of life from then on', async () => {
    const clock = manualClock()
    const { model, text, end } = gated()
    const { url } = await listen(new Agent({ version: '1', model }), { clock })
    const asked = ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream })
    let stream: Response | undefined
    void asked.then((response) => (stream = response))
    await expect
      .poll(async () => {
        await clock.advance(1000)
        return stream?.status
      })
      .toBe(200)
    const events = eventsOf(stream as Response)
    for (let n = 0; n < 2; n++) expect((await events.next()).value?.event).toMatch(/start/)
    const beat = events.next()
    await clock.advance(15_000)
    await clock.advance(15_000)
    expect((await beat).value?.comment).toBe(true)
    text('late')
    end()
    for await (const _ of events);
  })
})

test('with onDisconnect abort the provider is closed with the last reader, before any timer runs', async () => {
  const { model, text, closed } = gated()
  const clock = manualClock()
  const { url } = await listen(new Agent({ version: '1', model, clock, logger: silent }), {
    clock,
    onDisconnect: 'abort',
  })
  const left = new AbortController()
  const asked = ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream, signal: left.signal })
  text('one ')
  await asked
  left.abort()
  await closed
})

test('a run is stopped from elsewhere, by the log that both have', async () => {
  const { model, text } = gated()
  const { agent, sessions } = kept(new Agent({ version: '1', model }))
  const events = memoryEventLog()
  const { url } = await listen(agent, { sessions, events })
  const { url: elsewhere } = await listen(kept(agentOf([])).agent, { sessions, events })
  const asked = ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream })
  text('one ')
  const stream = await asked
  expect((await ask(`${elsewhere}/sessions/a/stop`, { method: 'POST' })).status).toBe(202)
  const last = JSON.parse((await allOf(stream)).at(-1)?.data as string)
  expect(last).toMatchObject({ type: 'turn:end', status: 'aborted' })
  const again = await ask(`${elsewhere}/sessions/a/stop`, { method: 'POST' })
  expect([again.status, await again.json()]).toEqual([409, expect.objectContaining({ code: 'run.not_running' })])
})

test('who asks again with the key of a run that has ended elsewhere reads all of its stream', async () => {
  const [events, sessions] = [memoryEventLog(), memoryStore()]
  const of = () => listen(agentOf(['Once.']).use(persist({ store: sessions })), { events, sessions })
  const [here, there] = [await of(), await of()]
  const asked = { body: { input: 'Hi' }, headers: { 'idempotency-key': 'k', ...asStream } }
  const read = await allOf(await ask(`${here.url}/sessions/a/runs`, asked))
  const again = await allOf(await ask(`${there.url}/sessions/a/runs`, asked))
  expect([textIn(again), again]).toEqual(['Once.', read])
})

test('an agent that was made with a store brings its sessions and events along', async () => {
  const store = { sessions: memoryStore(), events: memoryEventLog() }
  const { url } = await listen(Object.assign(kept(agentOf(['Hi.']), store.sessions).agent, { store }))
  await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' } })
  const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'a' }
  expect([(await store.sessions.load(key))?.version, (await store.events.latest(key))?.ended]).toEqual([1, true])
})
