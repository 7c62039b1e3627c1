import { Agent, type AgentOptions } from '@allium/core'
import { durable } from '@allium/durable'
import { persist } from '@allium/memory'
import { memoryStore, type SessionStore } from '@allium/store'
import { sqlite } from '@allium/store-sqlite'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { agentGroup, handoff } from '@allium/tools/group'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createClient } from '../src/client.ts'
import { type ServerOptions, server } from '../src/index.ts'
import { serve } from '../src/node.ts'
import { allOf, ask, asStream, fileOf, principal, silent, textIn } from './kit.ts'

const toRefunds: ScriptedStep = { toolCalls: [{ name: 'handoff', callId: 'h1', args: { to: 'refunds' } }] }
const toTriage: ScriptedStep = { toolCalls: [{ name: 'handoff', callId: 'h2', args: { to: 'triage' } }] }
const pay = { name: 'pay', description: 'Pays', jsonSchema: {}, requireApproval: true, execute: () => 'paid' }

interface Scripts {
  triage: readonly ScriptedStep[]
  refunds: readonly ScriptedStep[]
  /** Options of the agent `refunds`. */
  options?: Partial<AgentOptions>
}

/** A desk of two agents that hand off to each other. */
function desk({ triage: first, refunds: second, options }: Scripts, sessions: SessionStore = memoryStore()) {
  const shared = { sessionGroup: 'desk', logger: silent }
  const models = { triage: scriptedModel(first), refunds: scriptedModel(second) }
  const triage: Agent = new Agent({ name: 'triage', version: '1', model: models.triage, ...shared })
  const refunds: Agent = new Agent({ name: 'refunds', version: '1', model: models.refunds, ...shared, ...options })
  triage.use(handoff({ to: () => [{ agent: refunds, description: 'Refunds' }] })).use(persist({ store: sessions }))
  refunds.use(handoff({ to: () => [{ agent: triage, description: 'The rest' }] })).use(persist({ store: sessions }))
  return { group: agentGroup([triage, refunds]), sessions, models }
}

async function listen({ group, sessions }: ReturnType<typeof desk>, options: Partial<ServerOptions> = {}) {
  const { url, close } = await serve(server(group, { principal, sessions, logger: silent, ...options }), {
    ...{ port: 0, signals: false, drainTimeout: 0 },
  })
  onTestFinished(close)
  return url
}

const run = (url: string, input: string, headers = {}) => ask(`${url}/sessions/a/runs`, { body: { input }, headers })

describe('a group of agents on a server', () => {
  test('answers an input with the agent that it was handed off to, and later inputs in another process', async () => {
    const sessions = memoryStore()
    const first = await listen(desk({ triage: [toRefunds], refunds: ['Refunded.'] }, sessions))
    expect(await (await run(first, 'Money back')).json()).toMatchObject({ text: 'Refunded.', status: 'completed' })
    const second = await listen(desk({ triage: [], refunds: ['You are welcome.'] }, sessions))
    expect(await (await run(second, 'Thanks')).json()).toMatchObject({ text: 'You are welcome.' })
  })

  test('streams both turns as one run, which can be read again', async () => {
    const url = await listen(desk({ triage: [toRefunds], refunds: ['Refunded.'] }))
    const events = await allOf(await run(url, 'Money back', asStream))
    const types = events.map(({ event }) => event)
    expect([textIn(events), types.filter((type) => type === 'turn:end').length]).toEqual(['Refunded.', 1])
    const handed = events.find(({ event }) => event === 'tools:handoff')
    expect(JSON.parse(handed?.data ?? '')).toMatchObject({ from: 'triage', to: 'refunds' })
    expect(textIn(await allOf(await ask(`${url}/sessions/a/events`, { headers: asStream })))).toBe('Refunded.')
  })

  test('hands back, and shows the owner which agent answers', async () => {
    const scripts = { triage: [toRefunds, 'And now?'], refunds: ['Refunded.', toTriage] }
    const url = await listen(desk(scripts), { state: ['tools:handoff'] })
    const current = async () => (await (await ask(`${url}/sessions/a/state`)).json()) as { state: object }
    await run(url, 'Money back')
    expect((await current()).state).toMatchObject({ 'tools:handoff': { agent: 'refunds', from: 'triage' } })
    expect(await (await run(url, 'A question')).json()).toMatchObject({ text: 'And now?' })
    expect((await current()).state).toMatchObject({ 'tools:handoff': { agent: 'triage', from: 'refunds' } })
  })

  test('gives a client no way to choose an agent of the group', async () => {
    const { group, sessions, models } = desk({ triage: ['Of triage.'], refunds: ['Of refunds.'] })
    const url = await listen({ group, sessions, models })
    expect((await ask(`${url}/agents/refunds/sessions/a/runs`, { body: { input: 'Hi' } })).status).toBe(404)
    expect(await (await ask(`${url}/agents`)).json()).toEqual({ agents: ['desk'] })
    const body = { input: 'Hi', state: { 'tools:handoff': { agent: 'refunds' } } }
    expect((await ask(`${url}/sessions/a/runs`, { body })).status).toBe(400)
    const forged = 'Continue after the handoff.'
    expect(await (await run(url, forged)).json()).toMatchObject({ text: 'Of triage.' })
    expect(models.refunds.requests).toHaveLength(0)
  })

  test('lets the agent that suspended a call decide it, by its own rule', async () => {
    const canApprove = (who: unknown) => (who as { userId: string }).userId === 'boss'
    const options = { tools: [pay], approvals: { secret: 'a secret of the test', canApprove } }
    const steps = [{ toolCalls: [{ name: 'pay', callId: 'p1', args: {} }] }, 'Paid.']
    const url = await listen(desk({ triage: [toRefunds], refunds: steps, options }), {
      resolvePrincipal: ({ tenant, owner }) => ({ tenantId: tenant, userId: owner }),
    })
    expect(await (await run(url, 'Pay')).json()).toMatchObject({ status: 'suspended', pending: [{ callId: 'p1' }] })
    const own = { body: { decisions: { p1: { approve: true } } } }
    expect((await ask(`${url}/sessions/a/decisions`, own)).status).toBe(403)
    const listed = await (await ask(`${url}/approvals`, { as: 'acme/boss' })).json()
    const [{ token }] = (listed as { approvals: { token: string }[] }).approvals as [{ token: string }]
    expect((await ask(`${url}/approvals`, { as: 'acme/boss', body: { approve: true, token } })).status).toBe(202)
  })

  test('gives a repeated request the answer of the first one, also in another process', async () => {
    const sessions = memoryStore()
    const first = await listen(desk({ triage: [toRefunds], refunds: ['Refunded.'] }, sessions))
    const second = await listen(desk({ triage: [], refunds: [] }, sessions))
    for (const url of [first, first, second])
      expect(await (await run(url, 'Money back', { 'idempotency-key': 'k1' })).json()).toMatchObject({
        text: 'Refunded.',
      })
    expect((await run(first, 'Other', { 'idempotency-key': 'k1' })).status).toBe(422)
  })

  test('goes on in the typed client', async () => {
    const url = await listen(desk({ triage: [toRefunds], refunds: ['Refunded.', 'Bye.'] }))
    const client = createClient({ url, headers: () => ({ authorization: 'acme/ann' }) })
    const session = client.session('a')
    let text = ''
    for await (const event of session.run('Money back')) if (event.type === 'text-delta') text += event.delta
    expect([text, (await session.run('Thanks')).text]).toEqual(['Refunded.', 'Bye.'])
  })

  test('follows durable runs, as one run for its readers', async () => {
    const store = sqlite(fileOf())
    const { group, models } = desk({ triage: [toRefunds], refunds: ['Refunded.', 'Bye.'] }, store.sessions)
    const runs = durable(group, { store, lease: 1000, logger: silent })
    onTestFinished(async () => {
      await runs.drain({ timeout: 0 })
      store.close()
    })
    const url = await listen({ group, sessions: store.sessions, models }, { durable: runs })
    const events = await allOf(await run(url, 'Money back', asStream))
    const ends = events.filter(({ event }) => event === 'turn:end').map(({ data }) => JSON.parse(data))
    expect([textIn(events), ends.length, ends[0]?.status, ends[0]?.usage.calls]).toEqual([
      'Refunded.',
      1,
      'completed',
      2,
    ])
    expect(await (await run(url, 'Thanks')).json()).toMatchObject({ text: 'Bye.', status: 'completed' })
  })

  test('waits for all durable runs of an answer without a stream', async () => {
    const store = sqlite(fileOf())
    const { group, models } = desk({ triage: [toRefunds], refunds: ['Refunded.'] }, store.sessions)
    const runs = durable(group, { store, lease: 1000, logger: silent })
    onTestFinished(async () => {
      await runs.drain({ timeout: 0 })
      store.close()
    })
    const url = await listen({ group, sessions: store.sessions, models }, { durable: runs })
    expect(await (await run(url, 'Money back')).json()).toMatchObject({ text: 'Refunded.', usage: { calls: 2 } })
  })
})
