import type { StoredTurn } from '@allium/core'
import { memoryStore, type SessionStore } from '@allium/store'
import { expect, test } from 'vitest'
import { agentOf, ask, kept, listen } from './kit.ts'

type Append = SessionStore['append']

/** A server on a store whose appends a test can observe. */
async function serve(answers: number, onAppend: (...args: Parameters<Append>) => Promise<unknown> = async () => {}) {
  const store = memoryStore()
  const append: Append = async (...args) => {
    await onAppend(...args)
    return store.append(...args)
  }
  const sessions: SessionStore = { ...store, append }
  const { agent } = kept(agentOf(Array.from({ length: answers }, (_, i) => `Answer ${i}.`)), sessions)
  const { url } = await listen(agent, { sessions })
  const post = async (input: string, id = 'a') => {
    const response = await ask(`${url}/sessions/${id}/runs`, { body: { input, messageId: 'u1' } })
    await response.text()
    return response.status
  }
  const remove = (id = 'a') => ask(`${url}/sessions/${id}`, { method: 'DELETE' })
  const list = async () => {
    const { sessions } = (await (await ask(`${url}/sessions?limit=100`)).json()) as { sessions: { id: string }[] }
    return sessions.map(({ id }) => id)
  }
  return { store, url, post, remove, list }
}

test.each(['deletes the session', 'erases the owner'])(
  'an edit during which the user %s leaves no former conversation',
  async (how) => {
    const { store, post, remove, list } = await serve(2, async (_, __, { turnId }) => {
      // The copy of the former conversation is about to be stored.
      if (!turnId.startsWith('fork:')) return
      if (how === 'erases the owner') await store.erase({ tenant: 'acme', owner: 'ann' })
      else expect((await remove()).status).toBe(204)
    })
    await post('secret')
    await post('edited')
    expect((await list()).filter((id) => id !== 'a')).toEqual([])
  },
)

test.each([1, 2, 3])(
  '%i edits that end while their session is being deleted leave no former conversation',
  async (edits) => {
    const { store, url, post, list } = await serve(1 + edits)
    await post('secret')
    const sessions: SessionStore = {
      ...store,
      // The edits end after the former conversations were deleted.
      delete: async (key) => {
        if (key.sessionId === 'a' && (await list()).length === 1)
          for (let edit = 1; edit <= edits; edit++) expect(await post(`edited ${edit}`)).toBe(200)
        return store.delete(key)
      },
    }
    const { agent } = kept(agentOf([]), sessions)
    const other = await listen(agent, { sessions })
    expect((await ask(`${other.url}/sessions/a`, { method: 'DELETE' })).status).toBe(204)
    expect(await list()).toEqual([])
    expect((await ask(`${url}/sessions/a/messages`)).status).toBe(404)
  },
)

test('an edit whose session is deleted and begun again leaves no former conversation', async () => {
  const { store, post, remove, list } = await serve(3, async (_, __, { turnId }) => {
    if (!turnId.startsWith('fork:')) return
    expect((await remove()).status).toBe(204)
    const { lease } = await store.acquire(key, 1000)
    if (lease !== undefined) await store.append(lease, 0, { ...written, turnId: 'new' }, { release: true })
  })
  const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'a' }
  await post('secret')
  const written = (await store.find(key, { version: 1 })) as StoredTurn
  await post('edited')
  expect(await list()).toEqual(['a'])
})

test('a session keeps its last 20 former conversations, and those that were continued', async () => {
  const { post, list, remove } = await serve(40)
  await post('0')
  await post('1')
  const [first] = (await list()).filter((id) => id !== 'a')
  expect(await post('continued', first)).toBe(200)
  for (let edit = 2; edit <= 25; edit++) await post(String(edit))
  const former = (await list()).filter((id) => id !== 'a')
  expect([former.length, former.includes(first as string)]).toEqual([22, true])
  await remove()
  expect(await list()).toEqual([])
})
