import { defineTool } from '@allium/core'
import { memoryStore, type SessionStore } from '@allium/store'
import { sqlite } from '@allium/store-sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agentOf, ask, fileOf, kept, listen } from './kit.ts'

const wait = defineTool({
  name: 'wait',
  description: 'Waits for an approval.',
  jsonSchema: { type: 'object' },
  requireApproval: true,
  execute: () => 'done',
})
const call = { toolCalls: [{ name: 'wait', args: {} }] }
const ids = ['private-merger-talks', 'layoffs', 'salaries']
interface Page {
  sessions?: { id: string }[]
  approvals?: { sessionId: string; owner: string }[]
  cursor?: string
}

const stores = [
  ['memory', () => memoryStore()],
  [
    'sqlite',
    () => {
      const store = sqlite(fileOf())
      onTestFinished(() => store.close())
      return store.sessions
    },
  ],
] as const

/** Sessions of Ann's with a call that waits in each. */
async function anns(sessions: SessionStore = memoryStore(), options: object = {}, approvals: object = {}) {
  const steps = Array.from({ length: 20 }, () => call)
  const { agent } = kept(
    agentOf(steps, { tools: [wait], approvals: { secret: 'of the test', ...approvals } }),
    sessions,
  )
  const { url, made } = await listen(agent, { sessions, ...options })
  for (const id of ids) await ask(`${url}/sessions/${id}/runs`, { body: { input: 'Hi' } })
  const get = async (path: string, as?: string) => {
    const response = await ask(`${url}${path}`, { ...(as && { as }) })
    return { status: response.status, ...((await response.json()) as Page) }
  }
  return { url, made, get }
}

const bob = 'acme/bob'
const lena = 'acme/lena'
const lenaDecides = { canApprove: (who: unknown) => (who as { userId: string }).userId === 'lena' }
const resolvePrincipal = ({ tenant, owner }: { tenant: string; owner: string }) => ({ tenantId: tenant, userId: owner })

describe.each(stores)('Cursors over the %s store', (_, store) => {
  test('lists of another owner have no cursor, whatever the page, without a right to read', async () => {
    const { get } = await anns(store())
    for (const path of ['/sessions?owner=ann&limit=1', '/approvals?limit=1', '/approvals'])
      expect((await get(path, bob)).cursor).toBeUndefined()
    const closed = await anns(store(), { canRead: () => false })
    expect(await closed.get('/sessions?owner=ann&limit=1', bob)).toEqual({ status: 200, sessions: [] })
  })

  test('a page of approvals that the caller may not decide has no cursor, where a rule lets others decide', async () => {
    const { get } = await anns(store(), { resolvePrincipal }, lenaDecides)
    expect(await get('/approvals?limit=1', bob)).toEqual({ status: 200, approvals: [] })
    const pages = [await get('/approvals?limit=2', lena)]
    pages.push(await get(`/approvals?limit=2&cursor=${pages[0]?.cursor}`, lena))
    expect(pages.flatMap(({ approvals = [] }) => approvals.map(({ sessionId }) => sessionId))).toEqual(ids)
    expect(pages[1]?.cursor).toBeUndefined()
  })

  test('where some rows are hidden, pages of any size give each of the others once, and no cursor behind the last', async () => {
    const canRead = (_: unknown, { sessionId }: { sessionId: string }) => sessionId === 'layoffs'
    const { get } = await anns(store(), { canRead })
    for (const limit of [1, 2]) {
      const { sessions, cursor } = await get(`/sessions?owner=ann&limit=${limit}`, bob)
      expect([sessions?.map(({ id }) => id), cursor]).toEqual([['layoffs'], undefined])
    }
  })

  test('names nobody: a cursor says nothing of ids, and is as long whatever they are', async () => {
    const { get } = await anns(store())
    const { cursor = '' } = await get('/sessions?limit=1')
    const read = Buffer.from(cursor, 'base64url').toString('latin1')
    for (const word of ['ann', 'acme', ...ids]) expect(read).not.toContain(word)
    expect((await get('/sessions?limit=2')).cursor).toHaveLength(cursor.length)
  })

  test('of another list, caller, tenant or server is refused, and says where to begin', async () => {
    const { get } = await anns(store())
    const { cursor } = await get('/sessions?limit=1')
    expect((await get(`/sessions?limit=1&cursor=${cursor}`)).sessions).toHaveLength(1)
    for (const [path, as] of [
      ['/sessions?', bob],
      ['/sessions?', 'globex/ann'],
      ['/approvals?', 'acme/ann'],
    ] as const)
      expect(await get(`${path}cursor=${cursor}`, as)).toMatchObject({ status: 400, code: 'request.invalid' })
    const other = await anns(store())
    expect(await other.get(`/sessions?cursor=${cursor}`)).toMatchObject({
      status: 400,
      message: expect.stringMatching(/Start again with the first page.*secret/),
    })
  })
})

test('with the same secret a cursor is good on every machine', async () => {
  const sessions = memoryStore()
  const secret = 'a secret of the test, and long'
  const first = await anns(sessions, { secret })
  const { cursor } = await first.get('/sessions?limit=2')
  const { agent } = kept(agentOf([]), sessions)
  const { url } = await listen(agent, { sessions, secret })
  const { sessions: rest } = (await (await ask(`${url}/sessions?cursor=${cursor}`)).json()) as Page
  expect(rest).toHaveLength(1)
})

test('a request reads 200 rows at most, however many are hidden', async () => {
  const inner = memoryStore()
  let rows = 0
  const sessions = {
    ...inner,
    list: async ({ cursor, limit }: { cursor?: string; limit: number }) => {
      rows += limit
      const from = Number(cursor ?? 0)
      const items = Array.from({ length: limit }, (_, at) => ({
        key: { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: `s${from + at}` },
        version: 1,
        status: 'completed' as const,
        updatedAt: 0,
      }))
      return { items, cursor: String(from + limit) }
    },
  }
  const { agent } = kept(agentOf([]), sessions)
  const { url } = await listen(agent, { sessions, canRead: () => false })
  const page = (await (await ask(`${url}/sessions?owner=ann`, { as: bob })).json()) as Page
  expect([page.sessions, rows]).toEqual([[], 200])
  expect(page.cursor).toBeDefined()
})

test.each([
  ['without resolvePrincipal', {}, lenaDecides],
  ['without a rule of the agent', { resolvePrincipal }, {}],
])('%s only calls of the caller are read from the store', async (_, options, approvals) => {
  const inner = memoryStore()
  const owners: unknown[] = []
  const pendingCalls: typeof inner.pendingCalls = (of) => {
    owners.push(of.owner)
    return inner.pendingCalls(of)
  }
  const { get } = await anns({ ...inner, pendingCalls }, options, approvals)
  await get('/approvals', bob)
  expect(owners).toEqual(['bob'])
})
