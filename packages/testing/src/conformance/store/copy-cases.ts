import type { StoredTurn } from '@allium/core'
import type { StoredSession } from '@allium/store'
import { checkEqual } from '../check.ts'
import { acquireLease, add, chat, type StoreCases } from './bench.ts'
import { fullTurn, richTurn } from './samples.ts'

/** Cases: the store keeps its own copies. */
export const copyCases: StoreCases = {
  async 'stores a copy: changing the appended data does not change the stored data'(bench) {
    const turn = richTurn()
    await add(bench, chat, turn)
    spoil(turn.messages, turn.rest)
    checkEqual(await bench.store.load(chat), expected(), 'The stored data has not changed')
  },

  async 'returns a copy: changing the loaded data does not change the stored data'(bench) {
    await add(bench, chat, richTurn())
    const loaded = (await bench.store.load(chat)) as StoredSession
    const again = await bench.store.load(chat)
    spoil(loaded.history, loaded.rest)
    checkEqual(again, expected(), 'Two loads return two copies')
    checkEqual(await bench.store.load(chat), expected(), 'The stored data has not changed')
  },

  async 'copies the appended data before append() returns its promise'(bench) {
    const turn = richTurn()
    const lease = await acquireLease(bench.store, chat, bench.lease)
    const appending = bench.store.append(lease, 0, turn)
    spoil(turn.messages, turn.rest)
    await appending
    checkEqual(await bench.store.load(chat), expected(), 'The store has the arguments of append()')
  },

  async 'stores its own bytes: filling the buffer again does not change them'(bench) {
    const turn = richTurn()
    await add(bench, chat, turn)
    spoilBytes(turn.messages)
    checkEqual(await bench.store.load(chat), expected(), 'Bytes that were appended are copied')
    spoilBytes(((await bench.store.load(chat)) as StoredSession).history)
    checkEqual(await bench.store.load(chat), expected(), 'Bytes that were loaded are copies')
  },

  async 'keeps and gives copies of open runs, found ones, lists and records too'(bench) {
    const { store, lease: ms } = bench
    const lease = await acquireLease(store, chat, ms * 100)
    const open = fullTurn(0)
    const keeping = store.checkpoint(lease, 0, open)
    spoil(open)
    await keeping
    spoil(await store.load(chat), await store.find(chat, { turnId: 's:2' }))
    checkEqual(await store.find(chat, { turnId: 's:2' }), fullTurn(0), 'An open run stays as it was checkpointed')
    const turn = fullTurn(0)
    const appending = store.append(lease, 0, turn)
    spoil(turn)
    await appending
    spoil(await store.find(chat, { turnId: 's:2' }), await store.load(chat, { version: 1 }))
    spoil(
      await store.list({ tenant: chat.tenant, limit: 1 }),
      await store.pendingCalls({ tenant: chat.tenant, limit: 1 }),
    )
    spoil(await store.findPendingCall({ tenant: chat.tenant, token: 'd' }), await store.outbox.claim('spoiler', 10, ms))
    checkEqual(await store.find(chat, { turnId: 's:2' }), fullTurn(0), 'A run stays as it was appended')
    const { items } = await store.pendingCalls({ tenant: chat.tenant, limit: 1 })
    checkEqual([items[0]?.key, items[0]?.name], [chat, 'look'], 'A waiting call stays as it was')
    const [record] = await store.outbox.claim('bills', 10, ms)
    checkEqual(record, { ...fullTurn(0).records[0], tenant: chat.tenant, turnId: 's:2' }, 'A record stays as it was')
  },
}

function expected(): StoredSession {
  const { messages, rest } = richTurn()
  return { version: 1, owner: chat.owner, history: messages, rest }
}

/** Changes every plain object and list at any depth. */
function spoil(...values: unknown[]): void {
  for (const value of values) {
    if (typeof value !== 'object' || value === null || value instanceof URL || value instanceof Date) continue
    if (value instanceof Uint8Array || value instanceof Map || value instanceof Set) continue
    spoil(...Object.values(value))
    if (Array.isArray(value)) value.push('spoiled')
    else Object.assign(value, { spoiled: true, type: 'spoiled', content: 'spoiled', name: 'spoiled' })
  }
}

function spoilBytes(messages: StoredTurn['messages']): void {
  for (const { content } of messages)
    for (const part of typeof content === 'string' ? [] : content)
      if ('data' in part && part.data instanceof Uint8Array) part.data.fill(7)
}
