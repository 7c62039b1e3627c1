import type { Erasure, SessionKey } from '@allium/core'
import type { SessionStore } from '@allium/store'
import { checkEqual, checkRejects } from '../check.ts'
import { chat } from '../store/bench.ts'
import {
  find,
  hold,
  type PassageBench,
  type PassageCases,
  say,
  scopeOf,
  textsAt,
  turnWith,
  writerOf,
} from './passage-bench.ts'

/** The sessions of the cases. */
const keys: Readonly<Record<string, SessionKey>> = {
  chat,
  other: { ...chat, sessionId: 'other' },
  agent: { ...chat, agent: 'other' },
  bob: { ...chat, owner: 'bob' },
  globex: { ...chat, tenant: 'globex' },
}

/** A document of a tenant, as `documents()` of `@allium/memory` stores it. */
const handbook: SessionKey = { ...chat, owner: '', agent: 'memory:documents/handbook', sessionId: 'returns' }

const ann: Erasure = { tenant: chat.tenant, owner: chat.owner }
const erasures: Readonly<Record<string, (sessions: SessionStore) => Promise<unknown>>> = {
  'the owner': (sessions) => sessions.erase(ann),
  'the tenant': (sessions) => sessions.erase({ tenant: chat.tenant }),
}

/** Cases: passages go with their session, and the key goes with the owner. */
export const eraseCases: PassageCases = {
  async 'deletes the passages of a session with it'(bench) {
    await fill(bench)
    const key = await bench.passages.key(chat)
    await bench.sessions.delete(chat)
    checkEqual(await left(bench), ['agent', 'bob', 'globex', 'other'], 'delete() of a session')
    checkEqual(await bench.other.passages.key(chat), key, 'The key of the owner stays')
    await say(bench, chat, 'tea')
    checkEqual((await find(bench.other, chat, 'tea')).length, 4, 'and the session begins anew')
  },

  async 'erases the passages and the key of an owner, or of all owners of a tenant, and no others'(bench) {
    await fill(bench)
    await bench.sessions.erase(ann)
    checkEqual(await left(bench), ['bob', 'globex'], 'erase() of an owner')
    checkEqual(await bench.other.passages.key(chat), undefined, 'The key of the owner')
    await bench.other.sessions.erase({ tenant: chat.tenant })
    checkEqual(await left(bench), ['globex'], 'erase() of a tenant')
    checkEqual(await bench.passages.key({ ...ann, owner: 'bob' }), undefined, 'The keys of the tenant')
  },

  async 'deletes the passages of sessions that expire, and keeps documents'(bench) {
    await fill(bench, ['chat', 'globex'])
    await say(bench, handbook, 'tea')
    await bench.wait(bench.lease * 3)
    await fill(bench, ['other', 'agent', 'bob'])
    checkEqual(await bench.sessions.expire({ olderThan: bench.lease * 2 }), 2, 'expire() deletes two sessions')
    checkEqual(await left(bench), ['agent', 'bob', 'other'], 'and their passages')
    checkEqual(await textsAt(bench.other, handbook, 0), ['tea'], 'and no document')
  },

  async 'erases the documents of a tenant with it, and not with one of its people'(bench) {
    await say(bench, handbook, 'tea')
    await fill(bench, ['chat'])
    await bench.sessions.erase(ann)
    checkEqual((await find(bench.other, handbook, 'tea')).length, 2, 'erase() of a person keeps them')
    await bench.sessions.erase({ tenant: chat.tenant })
    checkEqual(await find(bench.other, handbook, 'tea'), [], 'erase() of the tenant')
    checkEqual(await bench.passages.key(handbook), undefined, 'The key of its documents')
  },

  async 'moves the passages of a session whose agent was renamed'(bench) {
    await fill(bench, ['chat', 'other'])
    const renamed = { ...chat, agent: 'renamed' }
    checkEqual(await bench.other.sessions.rename(renamed, [chat.agent]), true, 'The session is moved')
    checkEqual((await find(bench, renamed, 'tea')).length, 2, 'postings() under the new name')
    checkEqual(await textsAt(bench.other, renamed, 0), ['tea'], 'read() under the new name')
    checkEqual(await left(bench), ['other'], 'and only the other session is left under the former one')
  },

  async 'gives an owner another key after an erasure'(bench) {
    for (const erase of Object.values(erasures)) {
      await say(bench, chat, 'tea')
      const key = await bench.passages.key(chat)
      await erase(bench.other.sessions)
      await bench.wait(bench.lease)
      await say(bench, chat, 'milk')
      checkEqual(await find(bench.other, chat, 'tea', 'milk'), ['chat/1/1:milk*1 of 2', 'chat/0/0:milk*1 of 1'], 'New')
      checkEqual(String(await bench.passages.key(chat)) === String(key), false, 'The key is another one')
    }
  },

  async 'makes no key and stores no passage for a run that began before an erasure'(bench) {
    for (const [what, erase] of Object.entries(erasures)) {
      const lease = await hold(bench)
      const writer = await writerOf(bench, lease)
      const turn = await turnWith(bench, lease, 'tea')
      await bench.wait(bench.lease)
      await erase(bench.other.sessions)
      await checkRejects(bench.passages.key(chat, writer), 'store.fenced', `key() after the erasure of ${what}`)
      await checkRejects(bench.sessions.append(lease, 0, turn), 'store.fenced', `append() after that of ${what}`)
      checkEqual(await bench.other.passages.key(chat), undefined, 'There is no key')
      checkEqual((await bench.other.passages.count(scopeOf(chat))).passages, 0, 'and no passage')
      await bench.wait(bench.lease)
    }
  },
}

async function fill(bench: PassageBench, names = Object.keys(keys)): Promise<void> {
  for (const name of names) await say(bench, keys[name] as SessionKey, 'tea')
}

/** The sessions that still have passages. */
async function left({ other }: PassageBench): Promise<string[]> {
  const names: string[] = []
  for (const [name, key] of Object.entries(keys)) {
    const found = await find(other, key, 'tea')
    if (found.some((one) => one.startsWith(`${key.sessionId}/`))) names.push(name)
  }
  return names.toSorted()
}
