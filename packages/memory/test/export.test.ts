import { Agent, defineTool, fromJson } from '@allium/core'
import { record } from '@allium/core/context'
import type { SessionStore } from '@allium/store'
import { memoryStore } from '@allium/store'
import { scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { exportSessions, importSessions, persist } from '../src/index.ts'

const principal = { tenantId: 'acme', userId: 'ann' }

/** A store with a session of two turns, and one of another owner. */
async function filled(): Promise<SessionStore> {
  const store = memoryStore()
  const agent = new Agent({ model: scriptedModel(['One.', 'Two.', 'Bob.']) }).use(persist({ store })).use({
    name: 'records',
    async turn(ctx, next) {
      record(ctx, 'paid', { by: 1n })
      await next()
    },
  })
  const session = agent.session({ id: 'chat', principal })
  await session.run('Hi', { idempotencyKey: 'k' })
  await session.run('Again')
  await agent.session({ id: 'chat', principal: { tenantId: 'acme', userId: 'bob' } }).run('Hi')
  return store
}
async function lines(store: SessionStore, owner?: string): Promise<string[]> {
  const all: string[] = []
  for await (const line of exportSessions(store, { tenant: 'acme', owner })) all.push(line)
  return all
}
const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }

it('gives all that a tenant or an owner has, and a store that imports it has the same', async () => {
  const store = await filled()
  const [all, anns] = [await lines(store), await lines(store, 'ann')]
  expect([all.length, anns.length]).toEqual([3, 2])
  const other = memoryStore()
  expect(await importSessions(other, all, { records: true })).toBe(3)
  expect(await lines(other, 'ann')).toEqual(anns)
  expect(await other.load(key)).toEqual(await store.load(key))
  const records = await Promise.all([store, other].map((one) => one.outbox.claim('billing', 9, 1)))
  expect(records[1]?.length).toBe(records[0]?.length)
})

it('changes nothing when it is imported again, and puts no record into the outbox unless it is told to', async () => {
  const store = await filled()
  const other = memoryStore()
  for (let i = 0; i < 2; i++) await importSessions(other, await lines(store))
  expect((await other.load(key))?.version).toBe(2)
  expect(await other.outbox.claim('billing', 9, 1)).toEqual([])
  const again = new Agent({ model: scriptedModel([]) })
    .use(persist({ store: other }))
    .session({ id: 'chat', principal })
  expect((await again.run('Hi', { idempotencyKey: 'k' })).text).toBe('One.')
})

it('keeps the run that goes on, as one that its process has left', async () => {
  const store = memoryStore()
  let exported: string[] = []
  const look = defineTool({
    name: 'look',
    description: 'Looks',
    jsonSchema: { type: 'object', properties: {} },
    async execute() {
      exported = await lines(store)
      return 'seen'
    },
  })
  const model = scriptedModel([{ toolCalls: [{ name: 'look', args: {} }] }, 'Done.'])
  const agent = new Agent({ model, tools: [look] }).use(persist({ store }))
  await agent.session({ id: 'chat', principal }).run('Hi')
  const other = memoryStore()
  await importSessions(other, exported)
  expect((await other.load(key))?.open?.status).toBe('running')
  expect((fromJson(exported[0] ?? '') as { version?: number }).version).toBe(undefined)
})

it('tells a line that is none, and a session that somebody has or that has gone on otherwise', async () => {
  const [store, all] = [memoryStore(), await lines(await filled())]
  const [anns, bobs] = ['"ann"', '"bob"'].map((owner) => all.filter((line) => line.includes(owner))) as [
    string[],
    string[],
  ]
  await expect(importSessions(store, [...bobs, '', '{"allium":2}'])).rejects.toMatchObject({
    code: 'store.corrupt',
    details: { line: 3 },
  })
  const { lease } = await store.acquire(key, 1000)
  await expect(importSessions(store, anns)).rejects.toMatchObject({ code: 'session.busy' })
  if (lease !== undefined) await store.release(lease)
  await expect(importSessions(store, anns.slice(1))).rejects.toMatchObject({ code: 'store.conflict' })
})

it('rejects a line whose session names no agent, and has stored the lines before it', async () => {
  const [store, all] = [memoryStore(), await lines(await filled(), 'ann')]
  const cut = all.map((line, i) => (i === 1 ? line.replace(',"agent":"agent"', '') : line))
  await expect(importSessions(store, cut)).rejects.toMatchObject({ code: 'store.corrupt', details: { line: 2 } })
  expect((await store.load(key))?.version).toBe(1)
})
