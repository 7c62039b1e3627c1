import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { documents } from '@allium/memory/documents'
import { type SqliteOptions, sqlite } from '@allium/store-sqlite'
import { Agent, memoryStore } from 'allium'
import * as memory from 'allium/memory'
import { scriptedModel } from 'allium/testing'
import { expect, onTestFinished, test } from 'vitest'
import type { AgentModule } from '../src/child/load-agent.ts'
import { openSessions } from '../src/child/open-sessions.ts'

const principal = { userId: 'developer' }
const model = () => scriptedModel(['Hello.', 'Hello.'])
const encrypt = { seal: (bytes: Uint8Array) => bytes, open: (bytes: Uint8Array) => bytes }

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'allium-dev-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

/** The stores of an agent's module, with the configured store as it is in its file. */
async function production(options?: SqliteOptions) {
  const path = folder()
  const file = join(path, 'production.db')
  const store = sqlite(file, options)
  await new Agent({ model: model(), store }).session({ id: 'old', principal }).run('Hi')
  const opened = openSessions(join(path, 'dev.db'))
  onTestFinished(() => {
    opened.close()
    store.close()
  })
  const served = (agent: Agent, module: Partial<AgentModule> = {}) =>
    opened.storesOf(agent as never, { store: undefined, ...module } as AgentModule)
  return { store, served, file }
}

const idsOf = ({ items }: { items: readonly { key: { sessionId: string } }[] }) => items.map(({ key }) => key.sessionId)

test('runs are stored in the store of the inspector, and the store of the agent is only read', async () => {
  const { store, served } = await production()
  const agent = new Agent({ model: model(), store })
  const { sessions, readOnly } = served(agent)
  await agent.session({ id: 'new', principal }).run('Hi')
  expect(idsOf(await sessions.list({ tenant: '', limit: 10 }))).toEqual(['new'])
  expect(idsOf((await readOnly?.sessions.list({ tenant: '', limit: 10 })) ?? { items: [] })).toEqual(['old'])
  expect(readOnly?.audit).toBe(store.audit)
})

test('the same holds for a store in a memory.persist layer that the module exports', async () => {
  const { store, served } = await production()
  const agent = new Agent({ model: model() }).use(memory.persist({ store: store.sessions }))
  const { sessions, readOnly } = served(agent as Agent, { store: { sessions: store.sessions } })
  await agent.session({ id: 'new', principal }).run('Hi')
  expect(idsOf(await sessions.list({ tenant: '', limit: 10 }))).toEqual(['new'])
  expect(readOnly?.audit).toBeDefined()
})

test('sessions of an encrypted store are copied only if the store of the inspector is encrypted too', async () => {
  const { store, served } = await production({ encrypt })
  expect(served(new Agent({ model: model(), store })).readOnly?.copies).toBe(false)
  const other = await production({ encrypt })
  expect(other.served(new Agent({ model: model(), store: other.store }), { encrypt }).readOnly?.copies).toBe(true)
})

test('a memoryStore() is replaced by the store of the inspector, so nothing is read-only', async () => {
  const { served } = await production()
  const store = { sessions: memoryStore() }
  expect(served(new Agent({ model: model(), store })).readOnly).toBeUndefined()
  expect(served(new Agent({ model: model() })).readOnly).toBeUndefined()
})

test('recall finds conversations of the inspector, and writes nothing to the store of the agent', async () => {
  const { store, served, file } = await production()
  const who = { tenantId: 'acme', userId: 'ada' }
  const asks = { toolCalls: [{ name: 'recall', args: { question: 'alpaca' } }] }
  const agent = new Agent({ store, model: scriptedModel(['Hello.', asks, 'Pia.']) }).use(memory.recall())
  served(agent)
  await agent.session({ id: 'monday', principal: who }).run('My alpaca is called Pia.')
  const { toolCalls } = await agent.session({ id: 'today', principal: who }).run('Who is it?')
  expect(toolCalls[0]?.result.content).toContain('My alpaca is called Pia.')
  const other = sqlite(file)
  onTestFinished(() => other.close())
  expect(await other.passages.key({ tenant: 'acme', owner: 'ada' })).toBeUndefined()
})

test('documents of the store of the agent are found', async () => {
  const { store, served } = await production()
  const handbook = documents({ store, name: 'handbook' })
  await handbook.put('returns', 'Send it back within a month.', { tenant: 'acme' })
  served(new Agent({ store, model: model() }))
  expect((await handbook.search('month', { tenant: 'acme' })).map(({ id }) => id)).toEqual(['returns'])
})

test('recall finds conversations of a memoryStore(), which the store of the inspector replaces', async () => {
  await production()
  const store = memoryStore()
  const who = { tenantId: 'acme', userId: 'ada' }
  const layers = [memory.persist({ store }), memory.recall({ store: store.passages, every: 'turn' })]
  const script = scriptedModel(['Hello.', 'Pia.'])
  const agent = new Agent({ model: script }).use(layers)
  await agent.session({ id: 'monday', principal: who }).run('My alpaca is called Pia.')
  await agent.session({ id: 'today', principal: who }).run('Which alpaca?')
  expect(JSON.stringify(script.requests[1]?.messages)).toContain('My alpaca is called Pia.')
})
