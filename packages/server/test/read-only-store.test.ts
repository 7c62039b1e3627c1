import { type SqliteOptions, sqlite } from '@allium/store-sqlite'
import { Agent, type AgentOptions } from 'allium'
import * as memory from 'allium/memory'
import { scriptedModel } from 'allium/testing'
import { expect, onTestFinished, test } from 'vitest'
import { server } from '../src/index.ts'
import { inspector, type ReadOnlyStore, type StoredTurnView } from '../src/inspect.ts'
import { fileOf, mirrored } from './kit.ts'

const agentWith = (steps: Parameters<typeof scriptedModel>[0], options: Partial<AgentOptions> = {}) =>
  new Agent({ name: 'support', model: scriptedModel(steps), ...options })

function opened(path: string, options?: SqliteOptions) {
  const store = sqlite(path, options)
  onTestFinished(() => store.close())
  return store
}

const refund = {
  name: 'refund',
  description: 'Refunds',
  jsonSchema: { type: 'object' },
  requireApproval: true,
  execute: () => 'refunded',
}

/** A file in which another process has stored a session of ann of acme, and one of eve of other. */
async function production(options?: SqliteOptions): Promise<string> {
  const path = fileOf()
  const { sessions } = opened(path, options)
  const agent = agentWith(['One.', 'Two.', { toolCalls: [{ name: 'refund', args: {} }] }, 'Hi Eve.'], {
    tools: [refund],
  })
  agent.use(memory.persist({ store: sessions }))
  const session = agent.session({ id: 's', principal: { tenantId: 'acme', userId: 'ann' } })
  for (const input of ['first', 'second', 'third']) await session.run(input)
  await agent.session({ id: 'e', principal: { tenantId: 'other', userId: 'eve' } }).run('Hi')
  return path
}

/** A server with its own sessions, which inspects those of the file. The header `who` has the user, the tenant and the access. */
function inspecting(path: string, options?: SqliteOptions, audit?: ReadOnlyStore['audit']) {
  const store = opened(path, options)
  const app = server(agentWith(['Continued.'], { tools: [refund] }), {
    principal({ headers }) {
      const [userId, tenantId, access] = headers.get('who')?.split(' ') ?? []
      return { userId, access, ...(tenantId !== '' && { tenantId }) }
    },
    inspect: inspector({
      access: (principal) => (principal as { access?: 'own' }).access,
      readOnly: { sessions: store.sessions, audit: audit ?? store.audit, reader: () => 'dana' },
    }),
  })
  const send = async (path: string, who = 'dev acme tenant', body?: object) => {
    const headers = { who, 'content-type': 'application/json' }
    const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await app.fetch(new Request(`http://x${path}`, init))
    return { status: response.status, body: (await response.json()) as Record<string, never> }
  }
  return { store, send }
}

const turnsPath = '/inspect/read-only/sessions/s/turns?owner=ann'
const texts = (body: Record<string, unknown>) =>
  (body.turns as StoredTurnView[]).map(({ messages }) => messages[0]?.content)

async function auditOf({ audit }: ReturnType<typeof opened>, tenant: string): Promise<Record<string, unknown>[]> {
  const lines: Record<string, unknown>[] = []
  for await (const line of audit.chainOf(tenant).lines()) lines.push(JSON.parse(line))
  return lines
}

test('shows the sessions of one tenant, without tokens, and records each look at content', async () => {
  const { store, send } = inspecting(await production())
  const { body } = await send('/inspect/read-only/sessions')
  expect(body.sessions).toMatchObject([{ id: 's', tenant: 'acme', owner: 'ann', status: 'suspended' }])
  expect(await auditOf(store, 'acme')).toEqual([])
  const turns = await send(turnsPath)
  expect(texts(turns.body)).toEqual(['first', 'second', 'third'])
  expect(turns.body.pending).toEqual([])
  expect(JSON.stringify(turns.body)).not.toContain('token')
  const look = { type: 'inspect:turns', tenant: 'acme', user: 'ann', session: 's', operator: 'dana' }
  expect(await auditOf(store, 'acme')).toMatchObject([look])
  expect((await send('/inspect/read-only/sessions/e/turns?owner=eve')).status).toBe(404)
})

test('shows a session of runs without a principal, whose owner is empty', async () => {
  const path = fileOf()
  const agent = agentWith(['One.']).use(memory.persist({ store: opened(path).sessions }))
  await agent.session({ id: 's' }).run('first')
  const { send } = inspecting(path)
  const { body } = await send('/inspect/read-only/sessions', 'dev  tenant')
  expect(body.sessions).toMatchObject([{ id: 's', tenant: '', owner: '' }])
  const turns = await send('/inspect/read-only/sessions/s/turns?owner=', 'dev  tenant')
  expect(texts(turns.body)).toEqual(['first'])
})

test('shows nothing if the audit does not record the look', async () => {
  const fails = () => {
    throw new Error('The disk is full.')
  }
  const { send } = inspecting(await production(), undefined, fails)
  const { status, body } = await send(turnsPath)
  expect([status, body.code, JSON.stringify(body).includes('first')]).toEqual([503, 'store.unavailable', false])
})

test('a copy belongs to the caller, ends after the chosen turn, and continues here', async () => {
  const { store, send } = inspecting(await production())
  const [first] = (await send(turnsPath)).body.turns as unknown as StoredTurnView[]
  const copied = await send('/inspect/read-only/sessions/s/copy?owner=ann', undefined, { id: 'c', at: first?.turnId })
  expect(copied).toEqual({ status: 201, body: { id: 'c' } })
  expect((await send('/sessions/c/runs', undefined, { input: 'go on' })).status).toBe(200)
  expect(texts((await send('/inspect/sessions/c/turns')).body)).toEqual(['first', 'go on'])
  const { items } = await store.sessions.list({ tenant: 'acme', limit: 10 })
  expect(items.map(({ key, version }) => [key.sessionId, version])).toEqual([['s', 3]])
  expect((await auditOf(store, 'acme')).map(({ type }) => type)).toEqual(['inspect:turns', 'inspect:copy'])
})

test('a copy of a session with a pending call has no call that could be approved', async () => {
  const { send } = inspecting(await production())
  const copy = '/inspect/read-only/sessions/s/copy?owner=ann'
  expect((await send(copy, undefined, { id: 'c' })).status).toBe(201)
  const { body } = await send('/inspect/sessions/c/turns')
  expect([body.pending, JSON.stringify(body).includes('Not approved.')]).toEqual([[], true])
  expect((await send(copy, undefined, { id: 'c' })).status).toBe(409)
})

test('sealed content is shown as sealed without its key, and with its key as it is', async () => {
  const path = await production({ encrypt: mirrored })
  const locked = inspecting(path)
  expect((await locked.send('/inspect/read-only/sessions')).body.sessions).toHaveLength(1)
  expect((await locked.send(turnsPath)).body).toMatchObject({ turns: [], sealed: 'store.corrupt' })
  expect(await auditOf(locked.store, 'acme')).toEqual([])
  const copy = await locked.send('/inspect/read-only/sessions/s/copy?owner=ann', undefined, { id: 'c' })
  expect([copy.status, copy.body.message]).toEqual([409, expect.stringContaining('is sealed')])
  const { send } = inspecting(path, { encrypt: mirrored })
  expect(texts((await send(turnsPath)).body)).toEqual(['first', 'second', 'third'])
})

test('does not exist without access, and shows the sessions of another owner only with access to the tenant', async () => {
  const { send } = inspecting(await production())
  for (const path of ['/inspect/read-only/sessions', turnsPath]) expect((await send(path, 'dev acme')).status).toBe(404)
  expect((await send(turnsPath, 'dev acme own')).status).toBe(404)
  expect((await send('/inspect/read-only/sessions', 'dev acme own')).body.sessions).toEqual([])
  expect(() => inspector({ access: () => 'all', readOnly: {} as never })).toThrow(
    'needs sessions, the sessions of a store, and audit',
  )
})
