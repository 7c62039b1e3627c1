import type { SessionKey } from '@allium/core'
import type { RunStore, SessionStore } from '@allium/store'
import { expect } from 'vitest'
import { persist } from '../../memory/src/index.ts'
import type { Vault } from '../src/index.ts'
import { agentOf, principal } from './old-rows.ts'

/** A store that has opened a database of an earlier schema. */
export interface OpenedStore {
  readonly sessions: SessionStore
  readonly runs: RunStore
  readonly vault: Vault
}

const key = (agent: string, sessionId = 'chat'): SessionKey => ({ tenant: 'acme', owner: 'ann', agent, sessionId })
const vaultKey = (agent: string) => `guard:pii:${JSON.stringify(['acme', 'ann', agent, 'chat'])}`
const textsOf = (messages: readonly { content: unknown }[]) => messages.map(({ content }) => content)

/** Another agent finds nothing of the old sessions, and gets sessions of its own. */
export async function checkOtherAgent({ sessions, vault }: OpenedStore): Promise<void> {
  const lax = agentOf('lax', ['Of lax.'])
    .use(persist({ store: sessions }))
    .session({ id: 'chat', principal })
  await lax.open()
  expect([lax.history.length, lax.pending]).toEqual([0, []])
  expect(await sessions.find(key('lax'), { idempotencyKey: 'k' })).toBeUndefined()
  expect((await sessions.list({ tenant: 'acme', agents: ['lax'], limit: 9 })).items).toEqual([])
  expect((await sessions.pendingCalls({ tenant: 'acme', agents: ['lax'], limit: 9 })).items).toEqual([])
  expect(await vault.load(vaultKey('lax'))).toBeUndefined()
  await lax.run('Hi')
  expect(textsOf((await sessions.load(key('lax')))?.history ?? [])).toEqual(['Hi', 'Of lax.'])
}

/** The agent of the last turn has them: it goes on with the history, and decides the call that waits. */
export async function checkOwnAgent({ sessions, vault }: OpenedStore, schema: number): Promise<void> {
  const paid: string[] = []
  const strict = agentOf('strict', ['It is paid.'], paid).use(persist({ store: sessions }))
  const session = strict.session({ id: 'chat', principal })
  await session.open()
  expect(textsOf(session.history).slice(0, 3)).toEqual(['Hi', 'Hello.', 'Pay'])
  const [call] = session.pending
  const { text } = await session.resume({ c1: { approve: true, ...(call?.token && { token: call.token }) } })
  expect([text, paid]).toEqual(['It is paid.', ['strict']])
  expect((await sessions.find(key('strict'), { idempotencyKey: 'k' }))?.answer).toBe('Hello.')
  expect((await sessions.load(key('strict')))?.version).toBe(3)
  expect(await vault.load(vaultKey('strict'))).toEqual(schema < 3 ? undefined : { '[NAME_1]': 'Ann' })
  const begun = await sessions.load(key('strict', 'begun'))
  expect(textsOf(begun?.open?.messages ?? [])).toEqual(['Begun.'])
}

/** Lists show them before they were opened. */
export async function checkLists({ sessions }: OpenedStore): Promise<void> {
  const { items } = await sessions.list({ tenant: 'acme', agents: ['strict'], limit: 9 })
  expect(items.map(({ key: { sessionId } }) => sessionId)).toEqual(expect.arrayContaining(['begun', 'chat']))
  const { items: calls } = await sessions.pendingCalls({ tenant: 'acme', agents: ['strict'], limit: 9 })
  expect(calls.map(({ key: { agent }, callId }) => [agent, callId])).toEqual([['strict', 'c1']])
}

/** A durable run that went on goes on from its steps, in a session of its agent. */
export async function checkDurableRun({ sessions, runs }: OpenedStore): Promise<void> {
  const [claimed] = await runs.claim({ agents: [{ name: 'strict', version: '' }], limit: 9, ms: 10_000, alone: true })
  expect(claimed?.run).toMatchObject({ run: 'r1', key: key('strict', 'durable'), task: { input: 'Go on' } })
  if (claimed === undefined) return
  expect(await runs.steps(claimed.lease, 'r1')).toEqual([{ id: 's1', body: '{"a":1}' }])
  await runs.record(claimed.lease, 'r1', { id: 's2', body: '{"b":2}' })
  expect((await runs.steps(claimed.lease, 'r1')).map(({ id }) => id).sort()).toEqual(['s1', 's2'])
  expect((await sessions.acquire(key('lax', 'durable'), 10)).lease).toBeDefined()
}
