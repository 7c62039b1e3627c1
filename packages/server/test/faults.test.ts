import { gzipSync } from 'node:zlib'
import { Agent, defineMiddleware, defineTool, type ModelRequest } from '@allium/core'
import { memoryEventLog, memoryStore } from '@allium/store'
import { sqlite } from '@allium/store-sqlite'
import { manualClock, scriptedModel } from '@allium/testing'
import { Agent as WholeAgent } from 'allium'
import { expect, onTestFinished, test } from 'vitest'
import { server } from '../src/index.ts'
import { serve } from '../src/node.ts'
import {
  agentOf,
  allOf,
  ask,
  asStream,
  eventsOf,
  fileOf,
  gated,
  kept,
  listen,
  principal,
  silent,
  textIn,
} from './kit.ts'

test('texts with line ends, NUL, half characters and emoji reach a reader as they were, each in one event', async () => {
  const naughty = [
    'data: x\n\nevent: evil\n\n',
    'a\r\nid: 1\r\n\r\n',
    'nul \0 here',
    'half \ud800 one',
    '👩‍👩‍👧‍👦 \u2028 \u2029',
    ':\n\n',
  ]
  const tool = defineTool({
    name: 'say',
    description: 'x',
    jsonSchema: { type: 'object' },
    execute: () => naughty.join('|'),
  })
  const { url } = await listen(agentOf([{ toolCalls: [{ name: 'say' }] }, naughty.join('|')], { tools: [tool] }))
  const events = await allOf(await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream }))
  expect(events.map(({ event }) => event)).toEqual(events.map(({ data }) => JSON.parse(data).type))
  expect(events.filter(({ id = '' }) => !/^\d+\.[^\s\0]+$/.test(id))).toEqual([])
  expect(textIn(events)).toBe(naughty.join('|'))
  const end = events.map(({ data }) => JSON.parse(data)).find(({ type }) => type === 'tool:end')
  expect(end.content).toBe(naughty.join('|'))
})

test('an idempotency key or a session id with a line end is refused, and starts no other header', async () => {
  const { made } = await listen(agentOf(['x']))
  const asked = new Request('http://127.0.0.1/sessions/a%0D%0Aset-cookie:%20x/runs', {
    method: 'POST',
    body: '{"input":"Hi"}',
    headers: { authorization: 'acme/ann', 'content-type': 'application/json' },
  })
  const response = await made.fetch(asked)
  expect(response.headers.get('set-cookie')).toBeNull()
  expect([...response.headers.values()].join()).not.toMatch(/[\r\n]/)
})

test('a body that is compressed is not unpacked', async () => {
  const { url } = await listen(agentOf([]))
  const bomb = gzipSync(Buffer.alloc(50_000_000, '['))
  expect(bomb.length).toBeLessThan(1_048_576)
  const response = await fetch(`${url}/sessions/a/runs`, {
    method: 'POST',
    body: bomb,
    headers: { authorization: 'acme/ann', 'content-type': 'application/json', 'content-encoding': 'gzip' },
  })
  expect(response.status).toBe(400)
})

test('a hundred readers that stand still hold up nobody, and each keeps a few events here, not all', async () => {
  const events = memoryEventLog()
  const { model, text, end } = gated()
  const { made } = await listen(new Agent({ model }), { events })
  const init = { headers: { authorization: 'acme/ann', 'content-type': 'application/json', ...asStream } }
  const of = 'http://127.0.0.1/sessions/a'
  const asked = made.fetch(new Request(`${of}/runs`, { ...init, method: 'POST', body: '{"input":"Hi"}' }))
  text('one ')
  const first = await asked
  const still = await Promise.all(Array.from({ length: 100 }, () => made.fetch(new Request(`${of}/events`, init))))
  for (let at = 0; at < 200; at++) text('x'.repeat(10_000))
  end()
  expect(textIn(await allOf(first))).toHaveLength(2_000_004)
  // What a reader still gets without the log is kept here for it.
  await events.delete({ tenant: 'acme' })
  const kept = await Promise.all(still.map(async (response) => textIn(await allOf(response)).length))
  expect(Math.max(...kept)).toBeLessThan(256_000)
})

test.each(['turn', 'model', 'tool', 'session', 'agent'] as const)(
  'what a layer throws at the scope %s is told by a code and the id of the request, without its words',
  async (scope) => {
    const throws = () => {
      throw new Error('canary sk-123')
    }
    const tool = defineTool({ name: 'x', description: 'x', jsonSchema: { type: 'object' }, execute: () => 'x' })
    const agent = agentOf([{ toolCalls: [{ name: 'x' }] }, 'Done.'], { tools: [tool] })
    agent.use(defineMiddleware({ name: 'test:throws', [scope]: throws } as never))
    const { url } = await listen(agent)
    for (const headers of [{}, asStream]) {
      const response = await ask(`${url}/sessions/${scope}/runs`, { body: { input: 'Hi' }, headers })
      const body = await response.text()
      expect(body).not.toMatch(/canary|sk-123|\.ts:/)
      if (!response.ok) expect(Object.keys(JSON.parse(body))).toEqual(['code', 'message', 'requestId'])
    }
  },
)

test('SIGTERM during 50 streams lets those end that can, stops the rest, and tells every reader', async () => {
  let go = () => {}
  const gate = new Promise<void>((resolve) => (go = resolve))
  const steps = Array.from({ length: 50 }, (_, at) => async ({ signal }: ModelRequest) => {
    const stopped = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    await (at % 2 === 0 ? gate : stopped)
    return 'Done.'
  })
  const agent = new Agent({ model: scriptedModel(steps), logger: silent })
  const made = server(agent, { principal, logger: silent, headersAfter: 1 })
  const { url, server: http } = await serve(made, { port: 0, drainTimeout: 300 })
  const asked = Array.from({ length: 50 }, (_, at) =>
    ask(`${url}/sessions/s${at}/runs`, { body: { input: 'Hi' }, headers: asStream }),
  )
  const streams = await Promise.all(asked)
  const closed = new Promise<void>((resolve) => http.on('close', resolve))
  process.emit('SIGTERM')
  go()
  const ends = await Promise.all(streams.map(async (stream) => JSON.parse((await allOf(stream)).at(-1)?.data ?? '{}')))
  const count = (status: string) => ends.filter((end) => end.type === 'turn:end' && end.status === status).length
  expect([count('completed'), count('aborted')]).toEqual([25, 25])
  await closed
})

test('a run whose process is lost ends for its readers elsewhere, is kept as interrupted, and its session goes on', async () => {
  const clock = manualClock()
  const [sessions, events, { model, text }] = [memoryStore({ clock }), memoryEventLog(), gated()]
  // Its clock stands still, as a process that is gone: it renews no lease.
  const gone = kept(new Agent({ model, logger: silent, clock: manualClock() }), sessions)
  const a = await listen(gone.agent, { sessions, events })
  const b = await listen(kept(agentOf(['Next.']), sessions).agent, { sessions, events, clock })
  text('one ')
  await ask(`${a.url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream })
  const reading = eventsOf(await ask(`${b.url}/sessions/a/events`))
  while ((await reading.next()).value?.event !== 'text-delta');
  await clock.advance(30_000)
  const last = await reading.next()
  expect(JSON.parse(last.value?.data as string)).toMatchObject({ type: 'run:error', code: 'run.interrupted' })
  expect((await reading.next()).done).toBe(true)
  const shown = await (await ask(`${b.url}/sessions/a/messages`)).json()
  const { messages, running } = shown as { messages: { role: string }[]; running: boolean }
  expect([messages.map(({ role }) => role), running]).toEqual([['user'], false])
  expect((await ask(`${b.url}/sessions/a/runs`, { body: { input: 'Again' } })).status).toBe(200)
})

test('a run that is silent for long, and whose process lives, is not taken for lost', async () => {
  const clock = manualClock()
  const [sessions, events, { model, text, end }] = [memoryStore({ clock }), memoryEventLog(), gated()]
  const a = await listen(kept(new Agent({ model, clock }), sessions).agent, { sessions, events })
  const b = await listen(kept(agentOf([]), sessions).agent, { sessions, events, clock })
  text('one ')
  const asked = await ask(`${a.url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream })
  const reading = eventsOf(await ask(`${b.url}/sessions/a/events`))
  while ((await reading.next()).value?.event !== 'text-delta');
  await clock.advance(60_000)
  text('two')
  end()
  expect(textIn(await allOf(asked))).toBe('one two')
  const rest = []
  for await (const event of reading) if (!event.comment) rest.push(event)
  expect([textIn(rest), rest.at(-1)?.event]).toEqual(['two', 'turn:end'])
})

test('a run that has ended gets no other end where a reader is slow', async () => {
  const clock = manualClock()
  const [sessions, events] = [memoryStore(), memoryEventLog()]
  const { url, made } = await listen(kept(agentOf(['x']), sessions).agent, { sessions, events, clock })
  const whole = await allOf(await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream }))
  // Without a socket nobody takes what it gives.
  const headers = { authorization: 'acme/ann', 'last-event-id': whole[0]?.id as string }
  const slow = await made.fetch(new Request('http://127.0.0.1/sessions/a/events', { headers }))
  await clock.advance(60_000)
  await slow.body?.cancel()
  expect((await allOf(await ask(`${url}/sessions/a/events`))).map(({ event }) => event)).toEqual(
    whole.map(({ event }) => event),
  )
})

test("events of an ended run are kept for the `eventRetention` of the agent's store, and its text longer", async () => {
  const clock = manualClock()
  const store = sqlite(fileOf(), { clock, eventRetention: 60_000 })
  onTestFinished(() => store.close())
  const model = scriptedModel(['One two.'])
  const { url } = await listen(new WholeAgent({ model, store }))
  const all = await allOf(await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream }))
  const again = () => ask(`${url}/sessions/a/events`, { headers: { 'last-event-id': all[0]?.id as string } })
  await clock.advance(59_000)
  expect(await allOf(await again())).toEqual(all.slice(1))
  await clock.advance(2_000)
  expect((await again()).status).toBe(204)
  expect(JSON.stringify(await (await ask(`${url}/sessions/a/messages`)).json())).toContain('One two.')
})
