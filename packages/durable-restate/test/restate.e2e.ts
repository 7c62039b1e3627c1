import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from '@allium/core'
import { persist } from '@allium/memory'
import { memoryStore } from '@allium/store'
import { scriptedModel } from '@allium/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { durableRestate } from '../src/index.ts'
import { ownServer, type Server, serveHere } from './server.ts'

let server: Server
const opened: { close(): Promise<void> }[] = []
beforeAll(async () => {
  server = await ownServer()
})
afterAll(async () => {
  for (const endpoint of opened) await endpoint.close()
  await server.stop()
})

const dana = { tenantId: 'acme', userId: 'dana' }
let names = 0

async function serve(agent: Agent) {
  const durable = durableRestate(agent, { ingress: server.ingress, name: `agent${names++}` })
  const endpoint = await serveHere([durable.object])
  opened.push(endpoint)
  await server.register(endpoint.port)
  return durable
}

const tool = (name: string, execute: () => unknown) => ({
  name,
  description: name,
  jsonSchema: { type: 'object' },
  execute,
})
const caller = (name: string, callId = 'c1') => ({ toolCalls: [{ name, callId }] })

it('runs a turn, and the next one with what was said before, which Restate keeps', async () => {
  const model = scriptedModel(['Hello.', 'You said hi.'])
  const durable = await serve(new Agent({ model }))
  const first = await durable.start({ principal: dana, sessionId: 's/1 "ö"', input: 'Hi', idempotencyKey: 'm/1' })
  expect(await durable.attach(first.run, { principal: dana })).toMatchObject({ status: 'completed', text: 'Hello.' })
  const second = await durable.start({ principal: dana, sessionId: 's/1 "ö"', input: 'What did I say?' })
  expect((await durable.attach(second.run, { principal: dana })).text).toBe('You said hi.')
  expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
})

it('leaves the session to the store where the agent has one', async () => {
  const store = memoryStore()
  const durable = await serve(new Agent({ model: scriptedModel(['One.', 'Two.']) }).use(persist({ store })) as Agent)
  for (const text of ['One.', 'Two.']) {
    const { run } = await durable.start({ principal: dana, sessionId: 's', input: 'Count' })
    expect((await durable.attach(run, { principal: dana })).text).toBe(text)
  }
  const stored = new Agent({ model: scriptedModel([]) }).use(persist({ store })).session({ id: 's', principal: dana })
  await stored.open()
  expect(stored.history.length).toBe(4)
  await stored.close()
})

it('gives one run for one key, and refuses another task under it', async () => {
  const model = scriptedModel(['Once.'])
  const durable = await serve(new Agent({ model }))
  const task = { principal: dana, sessionId: 's', input: 'Pay', idempotencyKey: 'pay-1' }
  const [a, b] = [await durable.start(task), await durable.start(task)]
  expect(b).toEqual(a)
  await durable.attach(a.run, { principal: dana })
  expect((await durable.attach((await durable.start(task)).run, { principal: dana })).text).toBe('Once.')
  await expect(durable.start({ ...task, input: 'Pay more' })).rejects.toMatchObject({ code: 'run.key_reused' })
  expect(model.requests.length).toBe(1)
})

it("does not find another's run, nor one that is garbage", async () => {
  const durable = await serve(new Agent({ model: scriptedModel(['Secret.']) }))
  const { run } = await durable.start({ principal: dana, sessionId: 's', input: 'Hi' })
  await durable.attach(run, { principal: dana })
  for (const [id, principal] of [
    [run, { tenantId: 'acme', userId: 'eve' }],
    [run, { tenantId: 'other', userId: 'dana' }],
    ['garbage', dana],
  ] as const)
    for (const act of ['attach', 'get', 'stop'] as const)
      await expect(durable[act](id, { principal })).rejects.toMatchObject({ code: 'session.not_found' })
})

it('ends what is refused by design with its code, once, and goes on with the next run', async () => {
  const durable = await serve(new Agent({ model: scriptedModel(['Fine.']) }))
  const forged = { c9: { approve: true as const } }
  const { run } = await durable.start({ principal: dana, sessionId: 's', decisions: forged })
  await expect(durable.attach(run, { principal: dana })).rejects.toMatchObject({ code: 'approval.unknown' })
  expect(await durable.get(run, { principal: dana })).toEqual({ status: 'ended' })
  const next = await durable.start({ principal: dana, sessionId: 's', input: 'Hi' })
  expect((await durable.attach(next.run, { principal: dana })).text).toBe('Fine.')
})

it('keeps a failed run as failed, without asking the model again', async () => {
  const model = scriptedModel([new Error('no such model')])
  const durable = await serve(new Agent({ model }))
  const { run } = await durable.start({ principal: dana, sessionId: 's', input: 'Hi' })
  await expect(durable.attach(run, { principal: dana })).rejects.toThrow()
  expect(model.requests.length).toBe(1)
})

it('a stop aborts the run and its tool, and the session is free', async () => {
  let aborted: unknown
  let began = () => {}
  const begun = new Promise<void>((resolve) => (began = resolve))
  const hang = {
    ...tool('hang', () => {}),
    execute: (_: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise((_, reject) => {
        began()
        signal.addEventListener('abort', () => reject((aborted = signal.reason)))
      }),
  }
  const durable = await serve(new Agent({ model: scriptedModel([caller('hang'), 'Next.']), tools: [hang] }))
  const { run } = await durable.start({ principal: dana, sessionId: 's', input: 'Hi' })
  await begun
  expect(await durable.get(run, { principal: dana })).toEqual({ status: 'open' })
  expect(await durable.stop(run, { principal: dana })).toBe(true)
  await expect(durable.attach(run, { principal: dana })).rejects.toMatchObject({ name: 'AbortError' })
  expect(aborted).toMatchObject({ name: 'AbortError' })
  expect(await durable.stop(run, { principal: dana })).toBe(false)
  const next = await durable.start({ principal: dana, sessionId: 's', input: 'Go on' })
  expect((await durable.attach(next.run, { principal: dana })).text).toBe('Next.')
})

it('begins a delayed run at its time, and one that was stopped before it never', async () => {
  const model = scriptedModel(['Later.'])
  const durable = await serve(new Agent({ model }))
  const runAt = Date.now() + 700
  const stopped = await durable.start({ principal: dana, sessionId: 's', input: 'No', runAt })
  const { run } = await durable.start({ principal: dana, sessionId: 's', input: 'Later', runAt: runAt + 100 })
  expect(await durable.stop(stopped.run, { principal: dana })).toBe(true)
  expect(model.requests.length).toBe(0)
  expect((await durable.attach(run, { principal: dana })).text).toBe('Later.')
  expect(Date.now()).toBeGreaterThanOrEqual(runAt)
  await expect(durable.attach(stopped.run, { principal: dana })).rejects.toMatchObject({ name: 'AbortError' })
  expect(model.requests.length).toBe(1)
})

it('a call that waits is an end; the decision is a run of its own', async () => {
  let paid = 0
  const pay = { ...tool('pay', () => `paid ${++paid}`), requireApproval: true }
  const durable = await serve(new Agent({ model: scriptedModel([caller('pay'), 'Paid.']), tools: [pay] }))
  const asked = await durable.start({ principal: dana, sessionId: 's', input: 'Pay' })
  const { status, pending } = await durable.attach(asked.run, { principal: dana })
  expect([status, paid]).toEqual(['suspended', 0])
  const [call] = pending
  const decisions = { [call?.callId ?? '']: { approve: true as const, token: call?.token } }
  const { run } = await durable.start({ principal: dana, sessionId: 's', decisions })
  expect((await durable.attach(run, { principal: dana })).text).toBe('Paid.')
  expect(paid).toBe(1)
})

it('steps of parallel tools are recorded side by side', async () => {
  const names = ['a', 'b', 'c', 'd']
  let running = 0
  let most = 0
  const tools = names.map((name, i) =>
    tool(name, async () => {
      most = Math.max(most, ++running)
      await sleep(100 - 20 * i)
      running--
      return name
    }),
  )
  const calls = { toolCalls: names.map((name) => ({ name, callId: name })) }
  const durable = await serve(new Agent({ model: scriptedModel([calls, 'All.']), tools }))
  const { run } = await durable.start({ principal: dana, sessionId: 's', input: 'Go' })
  expect((await durable.attach(run, { principal: dana })).text).toBe('All.')
  expect(most).toBe(4)
})
