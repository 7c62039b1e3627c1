import type { StoredSession, StoredTurn } from '@allium/core'
import { checkEqual } from '../check.ts'
import { add, chat, type StoreCases, take } from './bench.ts'
import { richTurn } from './samples.ts'

/** What a store keeps is its own. */
export const copyCases: StoreCases = {
  async 'keeps a copy: changing what was appended changes nothing stored'(bench) {
    const turn = richTurn()
    await add(bench, chat, turn)
    spoil(turn.messages, turn.rest)
    checkEqual(await bench.store.load(chat), expected(), 'What is stored stays as it was when it was appended')
  },

  async 'gives a copy: changing what was loaded changes nothing stored'(bench) {
    await add(bench, chat, richTurn())
    const loaded = (await bench.store.load(chat)) as StoredSession
    const again = await bench.store.load(chat)
    spoil(loaded.history, loaded.rest)
    checkEqual(again, expected(), 'What was loaded twice is two copies')
    checkEqual(await bench.store.load(chat), expected(), 'What is stored stays as it was')
  },

  async 'copies what is appended before append() gives its promise back'(bench) {
    const turn = richTurn()
    const lease = await take(bench.store, chat, bench.lease)
    const appending = bench.store.append(lease, 0, turn)
    spoil(turn.messages, turn.rest)
    await appending
    checkEqual(await bench.store.load(chat), expected(), 'What is stored is what append() was called with')
  },

  async 'keeps bytes of its own: filling a buffer again changes nothing stored'(bench) {
    const turn = richTurn()
    await add(bench, chat, turn)
    spoilBytes(turn.messages)
    checkEqual(await bench.store.load(chat), expected(), 'Bytes that were appended are copied')
    spoilBytes(((await bench.store.load(chat)) as StoredSession).history)
    checkEqual(await bench.store.load(chat), expected(), 'Bytes that were loaded are copies')
  },
}

function expected(): StoredSession {
  const { messages, rest } = richTurn()
  return { version: 1, owner: chat.owner, history: messages, rest }
}

/** Changes every plain object and list, however deep. */
function spoil(...values: unknown[]): void {
  for (const value of values) {
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array || value instanceof URL) continue
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
