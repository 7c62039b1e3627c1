import { Agent, type Model, type Tool } from '@allium/core'
import { type Durable, durable } from '@allium/durable'
import { persist } from '@allium/memory'
import { sqlite } from '@allium/store-sqlite'
import { manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { expect, onTestFinished, test } from 'vitest'
import { type ServerOptions, server } from '../src/index.ts'
import {
  agentOf,
  allOf,
  ask,
  asStream,
  eventsOf,
  gated,
  listen,
  principal,
  type SseEvent,
  silent,
  textIn,
} from './kit.ts'

const pay: Tool = { name: 'pay', description: 'Pays', jsonSchema: {}, execute: () => 'Paid.', requireApproval: true }
const paying: ScriptedStep = { toolCalls: [{ name: 'pay', callId: 'c1', args: {} }] }

/**
 * Processes on one store. One whose clock stands still is lost: what it has is taken over after its lease, which is short. The others have
 * a lease that a busy machine does not outlast.
 */
function world() {
  const store = sqlite(':memory:')
  const lost = manualClock()
  const process = async (
    model: Model,
    { isLost = false, ...options }: Partial<ServerOptions> & { isLost?: boolean } = {},
  ) => {
    const agent = new Agent({ version: '1', model, tools: [pay], logger: silent }).use(
      persist({ store: store.sessions }),
    )
    const runs = durable(agent, { store, logger: silent, ...(isLost ? { lease: 300, clock: lost } : { lease: 4000 }) })
    if (!isLost) onTestFinished(() => runs.drain({ timeout: 1 }))
    return { ...(await listen(agent, { durable: runs, ...options })), runs }
  }
  return { store, process }
}

const messagesOf = async (url: string) =>
  ((await (await ask(`${url}/sessions/a/messages`)).json()) as { messages: { parts: { text?: string }[] }[] }).messages

/** Reads a stream until it has shown some text; gives the place of that. */
async function someOf(response: Response): Promise<SseEvent> {
  for await (const event of eventsOf(response)) if (event.event === 'text-delta') return event
  return expect.fail('The stream had no text.')
}

test('answers a run as a whole and as a stream, and a reader who comes back goes on behind what they have', async () => {
  const { url } = await (await world()).process(scriptedModel(['One two.', 'Three four.']))
  const whole = await (await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' } })).json()
  expect(whole).toMatchObject({ status: 'completed', text: 'One two.', usage: { calls: 1 } })
  const all = await allOf(await ask(`${url}/sessions/a/runs`, { body: { input: 'Go on' }, headers: asStream }))
  expect([textIn(all), all.at(-1)?.event]).toEqual(['Three four.', 'turn:end'])
  const back = await ask(`${url}/sessions/a/events`, { headers: { 'last-event-id': all[2]?.id as string } })
  expect(await allOf(back)).toEqual(all.slice(3))
})

test('where its process is lost in mid-answer another one goes on, and the reader ends with the stored text', async () => {
  const { process } = world()
  const first = await process(scriptedModel([{ text: 'A part', stall: true }]), { isLost: true })
  const { id } = await someOf(await ask(`${first.url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream }))
  const next = await process(scriptedModel(['All of it.']))
  const rest = await allOf(await ask(`${next.url}/sessions/a/events`, { headers: { 'last-event-id': id as string } }))
  const anew = rest.findIndex(({ event }) => event === 'model:reset')
  expect([anew >= 0, textIn(rest.slice(anew)), rest.at(-1)?.event]).toEqual([true, 'All of it.', 'turn:end'])
  expect((await messagesOf(next.url)).at(-1)?.parts.at(-1)).toMatchObject({ text: 'All of it.' })
})

test('a page that cannot begin an answer anew is told, and has the stored text when it is loaded again', async () => {
  const { process } = world()
  const first = await process(scriptedModel([{ text: 'A part', stall: true }]), { isLost: true })
  await someOf(await ask(`${first.url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream }))
  const next = await process(scriptedModel(['All of it.']), { uiStream: 6 })
  const chunks = await allOf(await ask(`${next.url}/chat/a/stream`))
  expect(chunks.map(({ data }) => data).join()).toContain('The answer was restarted. Reload to see it.')
  await allOf(await ask(`${next.url}/sessions/a/events`))
  expect((await messagesOf(next.url)).at(-1)?.parts.at(-1)).toMatchObject({ text: 'All of it.' })
})

test('while a run goes on another one is busy; the same key is the same run, and stands for one input', async () => {
  const { model, text, end } = gated()
  const { url } = await world().process(model)
  const key = { 'idempotency-key': 'k' }
  text('Hello ')
  await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: { ...asStream, ...key } })
  const busy = await ask(`${url}/sessions/a/runs`, { body: { input: 'Else' } })
  expect([busy.status, Number(busy.headers.get('retry-after')) > 0]).toEqual([409, true])
  const same = ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: key })
  const other = await ask(`${url}/sessions/a/runs`, { body: { input: 'Other' }, headers: key })
  expect([other.status, await other.json()]).toMatchObject([422, { code: 'run.key_reused' }])
  end()
  expect(await (await same).json()).toMatchObject({ text: 'Hello ', status: 'completed' })
})

test('a run is stopped from another process, also one that nobody runs any more', async () => {
  const { process } = world()
  const first = await process(scriptedModel([{ text: 'A part', stall: true }]), { isLost: true })
  await someOf(await ask(`${first.url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream }))
  const next = await process(scriptedModel(['All of it.']))
  expect((await ask(`${next.url}/sessions/a/stop`, { method: 'POST' })).status).toBe(202)
  const events = await allOf(await ask(`${next.url}/sessions/a/events`))
  expect(JSON.parse(events.at(-1)?.data ?? '')).toMatchObject({ type: 'turn:end', status: 'aborted' })
  expect((await ask(`${next.url}/sessions/a/stop`, { method: 'POST' })).status).toBe(409)
})

test('a call that waits is decided in another process, once', async () => {
  const { process } = world()
  const first = await process(scriptedModel([paying]))
  const asked = await (await ask(`${first.url}/sessions/a/runs`, { body: { input: 'Pay' } })).json()
  expect(asked).toMatchObject({ status: 'suspended', pending: [{ callId: 'c1', name: 'pay' }] })
  const next = await process(scriptedModel(['It is paid.']))
  const decide = () => ask(`${next.url}/sessions/a/decisions`, { body: { decisions: { c1: { approve: true } } } })
  expect(await (await decide()).json()).toMatchObject({ status: 'completed', text: 'It is paid.' })
  expect((await decide()).status).toBe(409)
})

test('what fails has the status of any run', async () => {
  const failed = Object.assign(new Error('sk-123 is no key'), { status: 401 })
  const { url } = await world().process(scriptedModel([{ error: failed }, { text: 'One', error: failed }]))
  const early = await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' } })
  expect([early.status, (await early.text()).includes('sk-123')]).toEqual([502, false])
  const late = await allOf(await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream }))
  const told = late.find(({ event }) => event === 'run:error')?.data ?? ''
  expect([JSON.parse(told), told.includes('sk-123')]).toMatchObject([{ code: 'model.failed', status: 502 }, false])
})

test('a server that is stopped gives up what does not end in time, and another one goes on with it', async () => {
  const { process } = world()
  const first = await process(scriptedModel([{ text: 'A part', stall: true }]))
  const stream = await ask(`${first.url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream })
  const { id } = await someOf(stream)
  await first.made.drain({ timeout: 10 })
  const next = await process(scriptedModel(['All of it.']))
  const rest = await allOf(await ask(`${next.url}/sessions/a/events`, { headers: { 'last-event-id': id as string } }))
  expect(JSON.parse(rest.at(-1)?.data ?? '')).toMatchObject({ type: 'turn:end', status: 'completed' })
})

test('a session of no name is a run of this process alone', async () => {
  const { url } = await world().process(scriptedModel(['Hello.']), { openai: true })
  const body = { model: 'agent', messages: [{ role: 'user', content: 'Hi' }] }
  const answer = await ask(`${url}/v1/chat/completions`, { body })
  expect(await answer.json()).toMatchObject({ choices: [{ message: { content: 'Hello.' } }] })
})

test('durable runs of another agent, or with another log of events, are refused', async () => {
  const { store } = world()
  const kept = () => agentOf([]).use(persist({ store: store.sessions }))
  const [one, other] = [kept(), kept()]
  const runs: Durable = durable(one, { store, logger: silent })
  onTestFinished(() => runs.drain())
  expect(() => server(other, { principal, durable: runs })).toThrow('which this server does not serve')
  expect(() => server(one, { principal, durable: runs, events: sqlite(':memory:').events })).toThrow('another store')
  expect(() => server(one, { principal, durable: {} as never })).toThrow('durable')
})
