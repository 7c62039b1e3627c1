import { Agent } from '@allium/core'
import { memoryStore } from '@allium/store'
import { sqlite } from '@allium/store-sqlite'
import { manualClock } from '@allium/testing'
import { expect, test } from 'vitest'
import { type ServerOptions, server } from '../src/index.ts'
import {
  agentOf,
  allOf,
  ask,
  asStream,
  durablyKept,
  eventsOf,
  fileOf,
  gated,
  listen,
  principal,
  type SseEvent,
  silent,
  textIn,
} from './kit.ts'

/** Servers on one file, as processes of one machine: of those that are lost the clock stands still, and nothing they began ends. */
function world() {
  const [file, clock] = [fileOf(), manualClock()]
  const process = async (
    agent: (at: { clock: typeof clock }) => Agent,
    { isLost = false, ...options }: Partial<ServerOptions> & { isLost?: boolean } = {},
  ) => {
    const at = { clock: isLost ? manualClock() : clock }
    const store = sqlite(file, { clock })
    const made = agent(at)
    const runs = durablyKept(made, store, at)
    return { runs, store, ...(await listen(made, { durable: runs, ...(!isLost && at), ...options })) }
  }
  return { clock, process }
}

const run = (url: string, headers: Record<string, string> = asStream) =>
  ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers })
const follow = (url: string, last: SseEvent | undefined) =>
  ask(`${url}/sessions/a/events`, { headers: { 'last-event-id': last?.id ?? '' } })
const fieldsOf = ({ data }: SseEvent) => JSON.parse(data) as Record<string, unknown>

/** What a page shows of the answer. */
function shownIn(events: readonly SseEvent[]): string {
  const begins = events.findLastIndex(({ event }) => event === 'model:reset' || event === 'step:start')
  return textIn(events.slice(begins + 1))
}

/** A process that is lost behind the first words of its answer. */
async function lost(options: Partial<ServerOptions> = {}, path = '/sessions/a/runs', body: object = { input: 'Hi' }) {
  const { clock, process } = world()
  const { model, text } = gated()
  const dead = await process((at) => new Agent({ version: '1', model, logger: silent, ...at }), {
    isLost: true,
    ...options,
  })
  const asked = ask(`${dead.url}${path}`, { body, headers: asStream })
  text('The train ')
  const read: SseEvent[] = []
  for await (const event of eventsOf(await asked)) {
    read.push(event)
    if (event.data.includes('The train ')) break
  }
  await clock.advance(1500)
  const answer = 'The train leaves at nine.'
  const next = await process((at) => agentOf([answer, 'And back?'], at), options)
  await next.runs.recover()
  return { read, next, answer, clock }
}

test('a reader whose process was lost goes on in another one behind the last event that they have', async () => {
  const { read, next, answer } = await lost()
  const rest = await allOf(await follow(next.url, read.at(-1)))
  expect(rest.map(({ event }) => event).slice(0, 2)).toEqual(['model:reset', 'text-delta'])
  expect([shownIn([...read, ...rest]), fieldsOf(rest.at(-1) as SseEvent).status]).toEqual([answer, 'completed'])
  const ids = [...read, ...rest].map(({ id }) => Number(id?.split('.')[0]))
  expect(ids).toEqual(ids.map((_, at) => at + 1))
  const { messages } = (await (await ask(`${next.url}/sessions/a/messages`)).json()) as { messages: object[] }
  expect(messages).toMatchObject([{ parts: [{ text: 'Hi' }] }, { parts: [{}, { text: answer }] }])
})

test('who asks again with the key of a run whose process was lost reads that run, here', async () => {
  const { clock, process } = world()
  const { model, text } = gated()
  const dead = await process((at) => new Agent({ version: '1', model, logger: silent, ...at }), { isLost: true })
  const asked = run(dead.url, { ...asStream, 'idempotency-key': 'k' })
  text('The ')
  for await (const { data } of eventsOf(await asked)) if (data.includes('The ')) break
  await clock.advance(1500)
  const next = await process((at) => agentOf(['The end.'], at))
  await next.runs.recover()
  const answer = await run(next.url, { 'idempotency-key': 'k' })
  expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ text: 'The end.' })])
})

const said = { id: 'a', messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }] }
const typeOf = ({ data }: SseEvent): string => (data === '[DONE]' ? data : JSON.parse(data).type)

test.each([
  [6, ['error', '[DONE]']],
  [7, ['reset-step', 'text-start', 'text-delta', 'text-end', 'finish-step', 'finish', '[DONE]']],
] as const)('a page of the AI SDK %i that reads while its run is taken over is told so as it can be', async (...of) => {
  const [version, types] = of
  const { clock, process } = world()
  const { model, text } = gated()
  const dead = await process((at) => new Agent({ version: '1', model, logger: silent, ...at }), {
    isLost: true,
    uiStream: version,
  })
  const next = await process((at) => agentOf(['The train.'], at), { uiStream: version })
  const asked = ask(`${dead.url}/chat`, { body: said })
  text('The ')
  await asked
  const reading = eventsOf(await ask(`${next.url}/chat/a/stream`))
  const read: string[] = []
  while (read.at(-1) !== 'text-delta') read.push(typeOf((await reading.next()).value as SseEvent))
  await clock.advance(1500)
  await next.runs.recover()
  const rest: string[] = []
  for await (const event of reading) rest.push(typeOf(event))
  expect([...new Set(rest)]).toEqual(types)
})

test('a page of the AI SDK 6 that is reloaded has the answer whole: what was taken back is left out', async () => {
  const { next, answer } = await lost({ uiStream: 6 }, '/chat', said)
  await allOf(await ask(`${next.url}/sessions/a/events`))
  const all = await allOf(await ask(`${next.url}/chat/a/stream`))
  expect([textIn(all.slice(0, -1)), all.map(typeOf).slice(-2)]).toEqual([answer, ['finish', '[DONE]']])
  expect(await (await ask(`${next.url}/sessions/a/messages`)).text()).toContain(answer)
})

test('while the first run of a session goes on its page finds what was asked, and that it runs', async () => {
  const { process } = world()
  const { model, text, end } = gated()
  const { url } = await process((at) => new Agent({ version: '1', model, ...at }))
  const asked = run(url)
  text('One.')
  const stream = await asked
  const shown = async () => (await ask(`${url}/sessions/a/messages`)).json()
  expect(await shown()).toMatchObject({ running: true, messages: [{ role: 'user', parts: [{ text: 'Hi' }] }] })
  expect((await ask(`${url}/sessions/a/messages`, { as: 'acme/bob' })).status).toBe(404)
  end()
  await allOf(stream)
  expect(await shown()).toMatchObject({ running: false, messages: [{}, { role: 'assistant' }] })
})

test('a stop outlives the process that it was for', async () => {
  const { clock, process } = world()
  const { model, text } = gated()
  const dead = await process((at) => new Agent({ version: '1', model, logger: silent, ...at }), { isLost: true })
  text('One.')
  const asked = await run(dead.url)
  await asked.body?.cancel()
  // Its process has stopped to listen.
  Object.assign(dead.store.events, { signal: async () => true })
  expect((await ask(`${dead.url}/sessions/a/stop`, { method: 'POST' })).status).toBe(202)
  await clock.advance(1500)
  const next = await process((at) => agentOf(['Two.'], at))
  const reading = ask(`${next.url}/sessions/a/events`)
  await next.runs.recover()
  expect(fieldsOf((await allOf(await reading)).at(-1) as SseEvent)).toMatchObject({
    type: 'turn:end',
    status: 'aborted',
  })
})

test('a run that the application has begun itself is read and stopped, but not by what its owner asks next', async () => {
  const { process } = world()
  const { model, text } = gated()
  const { url, runs } = await process((at) => new Agent({ version: '1', model, logger: silent, ...at }))
  await runs.start({ principal: { tenantId: 'acme', userId: 'ann' }, sessionId: 'a', input: 'By night' })
  text('One.')
  const busy = await run(url)
  expect([busy.status, await busy.json()]).toMatchObject([409, { code: 'session.busy' }])
  expect(Number(busy.headers.get('retry-after'))).toBeGreaterThan(0)
  const reading = ask(`${url}/sessions/a/events`)
  expect((await ask(`${url}/sessions/a/stop`, { method: 'POST' })).status).toBe(202)
  expect(textIn(await allOf(await reading))).toBe('One.')
})

test('a server that drains leaves its runs to others, whose readers come back there', async () => {
  const { clock, process } = world()
  const { model, text, end } = gated()
  const a = await process((at) => new Agent({ version: '1', model, logger: silent, ...at }))
  text('One ')
  const reading = allOf(await run(a.url))
  const drained = a.made.drain()
  expect([(await ask(`${a.url}/readyz`)).status, (await run(a.url)).status]).toEqual([503, 503])
  await clock.advance(1000)
  text('two.')
  end()
  const read = await reading
  await drained
  expect(read.map(({ event }) => event)).not.toContain('turn:end')
  const b = await process((at) => new Agent({ version: '1', model: { ...model, stream: never }, ...at }))
  await b.runs.recover()
  const all = [...read, ...(await allOf(await follow(b.url, read.at(-1))))]
  expect([shownIn(all), fieldsOf(all.at(-1) as SseEvent)]).toMatchObject(['One two.', { status: 'completed' }])
})
const never = () => {
  throw new Error('It was asked again.')
}

test('a drain waits for no run longer than its timeout', async () => {
  const { clock, process } = world()
  const { model, text } = gated()
  const { url, made, runs } = await process((at) => new Agent({ version: '1', model, logger: silent, ...at }))
  text('One.')
  const reading = allOf(await run(url))
  const drained = made.drain({ timeout: 5000 })
  await clock.advance(5000)
  await drained
  expect(textIn(await reading)).toBe('One.')
  const { items } = await runs.list({ tenant: 'acme' })
  expect(items.map(({ status }) => status)).toEqual(['running'])
})

test('readers of what another process runs are let go by a server that drains', async () => {
  const { process } = world()
  const { model, text, end } = gated()
  const a = await process((at) => new Agent({ version: '1', model, ...at }))
  const b = await process((at) => agentOf([], at))
  text('One ')
  const whole = allOf(await run(a.url))
  const reading = allOf(await ask(`${b.url}/sessions/a/events`))
  await b.made.drain()
  expect((await reading).map(({ event }) => event)).not.toContain('turn:end')
  text('two.')
  end()
  expect(textIn(await whole)).toBe('One two.')
})

test('a principal that cannot be kept is refused', async () => {
  const { process } = world()
  const made = await process((at) => agentOf([], at), {
    principal: () => ({ tenantId: 'acme', userId: 'ann', may: () => true }),
  })
  const response = await run(made.url, {})
  expect([response.status, await response.json()]).toMatchObject([400, { code: 'run.options' }])
})

test("durable runs are those of the served agents, in one store, which is the server's", () => {
  const [store, elsewhere] = [sqlite(':memory:'), sqlite(':memory:')]
  const named = (name: string) => agentOf([], { name })
  const [support, sales] = [named('support'), named('sales')]
  const [ofSupport, ofSales] = [support, sales].map((agent) => durablyKept(agent, store))
  const agents = { support, sales }
  const make = (options: object) => () => server({ agents, principal, ...options } as never)
  expect(make({ durable: [ofSupport, ofSales] })).not.toThrow()
  expect(make({ durable: ofSupport })).not.toThrow()
  expect(make({ durable: durablyKept(named('other'), store) })).toThrow('which this server does not serve')
  expect(make({ durable: { start() {} } })).toThrow('needs durable to be the result of durable()')
  expect(make({ durable: ofSales, sessions: memoryStore() })).toThrow('another store')
  const moved = named('moved')
  const both = { agents: { sales, moved }, durable: [ofSales, durablyKept(moved, elsewhere)] }
  expect(make(both)).toThrow('another store')
})
