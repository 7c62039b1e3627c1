import { memoryStore, type SessionStore } from '@allium/store'
import { expect, test } from 'vitest'
import { createClient } from '../src/client.ts'
import { Slots } from '../src/http/slots.ts'
import { agentOf, ask, kept, listen } from './kit.ts'
import { fillImages, fillTurns } from './large-sessions/fill.ts'

interface Page {
  messages: { role: string; parts: { text?: string }[] }[]
  before?: number
}

async function filled(fill = fillTurns, turns = 250) {
  const { agent, sessions } = kept(agentOf([]))
  await fill(sessions, 's', turns)
  return { sessions, ...(await listen(agent, { sessions })) }
}

test('messages come in pages that begin with an input, and follow each other without a gap', async () => {
  const { url } = await filled()
  const page = async (query: string) => (await (await ask(`${url}/sessions/s/messages${query}`)).json()) as Page
  const last = await page('?limit=3')
  expect([last.messages.map(({ role }) => role), last.before]).toEqual([['user', 'assistant'], 498])
  const earlier = await page('?limit=2&before=498')
  expect([earlier.messages[0]?.parts[0]?.text?.slice(0, 12), earlier.before]).toEqual(['Question 249', 496])
  expect((await page('?before=4')).before).toBeUndefined()
})

test('the history of the client has all pages', async () => {
  const { url } = await filled()
  const client = createClient({ url, headers: () => ({ authorization: 'acme/ann' }) })
  const { messages } = await client.session('s').history()
  expect([messages.length, messages[0]?.id, messages.at(-1)?.id]).toEqual([500, 'message-0', 'message-499'])
})

test('the link of a file is not found once a later run has replaced its message', async () => {
  const { sessions, url } = await filled(fillImages, 2)
  const status = async () => (await ask(`${url}/sessions/s/files/2-2-1`)).status
  expect(await status()).toBe(200)
  await rewindTo(sessions, 2)
  expect(await status()).toBe(404)
})

async function rewindTo(sessions: SessionStore, from: number): Promise<void> {
  const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 's' }
  const { lease } = await sessions.acquire(key, 10_000)
  const last = await sessions.find(key, { version: 2 })
  if (lease === undefined || last === undefined) throw new Error('The session is missing.')
  await sessions.append(lease, 2, { ...last, turnId: 'rewound', rootId: 'rewound', from, messages: [] })
  await sessions.release(lease)
}

test('few tasks run at once, and users take turns', async () => {
  const slots = new Slots(1)
  const order: string[] = []
  const run = (owner: string) => slots.run({ tenant: 'acme', owner }, async () => void order.push(owner))
  await Promise.all(['ann', 'ann', 'ann', 'bob'].map(run))
  expect(order).toEqual(['ann', 'ann', 'bob', 'ann'])
})

test('a fork at an early run loads no other version', async () => {
  const loads: unknown[] = []
  const store = memoryStore()
  const load: SessionStore['load'] = (key, options) => {
    loads.push(options)
    return store.load(key, options)
  }
  const { agent, sessions } = kept(agentOf([]), { ...store, load })
  await fillTurns(sessions, 's', 50)
  const { url } = await listen(agent, { sessions })
  expect((await ask(`${url}/sessions/s/fork`, { body: { at: 't3' } })).status).toBe(201)
  expect(loads).toEqual([{ version: 3 }])
})
