import type { Erasure, SessionKey } from '@allium/core'
import type { SessionStore } from '@allium/store'
import { checkEqual, checkRejects, checkResolves } from '../check.ts'
import { add as addTurns, chat, turnOf } from '../store/bench.ts'
import {
  add,
  idsOf,
  listAll,
  type RecordingBench,
  type RecordingCases,
  recordingOf,
  writer,
} from './recording-bench.ts'

/** The sessions of the cases, by the ids of their turns. */
const keys: Readonly<Record<string, SessionKey>> = {
  chat,
  other: { ...chat, sessionId: 'other' },
  agent: { ...chat, agent: 'other' },
  bob: { ...chat, owner: 'bob' },
  globex: { ...chat, tenant: 'globex' },
}

const erasures: Readonly<Record<string, (sessions: SessionStore) => Promise<unknown>>> = {
  'the session was deleted': (sessions) => sessions.delete(chat),
  'the owner was erased': (sessions) => sessions.erase(ownerOf(chat)),
  'the tenant was erased': (sessions) => sessions.erase({ tenant: chat.tenant }),
}

/** Cases: recordings go with their session, their owner and their tenant. */
export const eraseCases: RecordingCases = {
  async 'deletes the recordings of a session with it, also of one that was not stored'(bench) {
    await fill(bench)
    await turnIn(bench, chat)
    await bench.sessions.delete(chat)
    checkEqual(await left(bench), ['agent', 'bob', 'globex', 'other'], 'delete() of a session')
    await bench.other.sessions.delete(keys.other as SessionKey)
    checkEqual(await left(bench), ['agent', 'bob', 'globex'], 'delete() of a session without turns')
  },

  async 'erases the recordings of an owner, and of a tenant, and no others'(bench) {
    await fill(bench)
    await turnIn(bench, chat)
    await bench.sessions.erase(ownerOf(chat))
    checkEqual(await left(bench), ['bob', 'globex'], 'erase() of an owner, for every agent')
    await bench.other.sessions.erase({ tenant: chat.tenant })
    checkEqual(await left(bench), ['globex'], 'erase() of a tenant')
  },

  async 'deletes the recordings of sessions that expire'(bench) {
    await fill(bench)
    await turnIn(bench, chat)
    await turnIn(bench, keys.globex as SessionKey)
    await bench.wait(bench.lease * 3)
    checkEqual(await bench.sessions.expire({ olderThan: bench.lease * 2 }), 2, 'expire() deletes two sessions')
    checkEqual(await left(bench), ['agent', 'bob', 'other'], 'and their recordings')
  },

  async 'rejects the recording of a run that began before its session, owner or tenant was erased'(bench) {
    for (const [what, erase] of Object.entries(erasures)) {
      const by = await writer(bench)
      await bench.wait(bench.lease)
      await erase(bench.other.sessions)
      const late = bench.recordings.add(recordingOf('late'), by)
      await checkRejects(late, 'store.fenced', `add() of a run that began before ${what}`)
      const unaffected = bench.recordings.add(recordingOf('globex', {}, keys.globex), { ...by, tenant: 'globex' })
      await checkResolves(unaffected, 'A run of another tenant is not affected')
      checkEqual(await left(bench), ['globex'], 'and only its recording is stored')
    }
  },

  async 'stores the recording of a run that began after the erasure'(bench) {
    for (const [what, erase] of Object.entries(erasures)) {
      await erase(bench.sessions)
      await bench.wait(bench.lease)
      const added = bench.recordings.add(recordingOf(what), await writer(bench))
      await checkResolves(added, `A run began after ${what}`)
      checkEqual(idsOf(await listAll(bench.other)), [what], `A run that began after ${what}`)
    }
  },

  async 'moves the recordings of a session whose agent was renamed, and erases them with it'(bench) {
    await fill(bench)
    await turnIn(bench, chat)
    const renamed = { ...chat, agent: 'renamed' }
    checkEqual(await bench.other.sessions.rename(renamed, [chat.agent]), true, 'The session is moved')
    const moved = recordingOf('chat', {}, renamed)
    checkEqual(await bench.recordings.get(moved), moved, 'get() under the new name')
    checkEqual(await bench.recordings.get(recordingOf('chat')), undefined, 'and not under the former one')
    checkEqual(idsOf(await listAll(bench, { agent: 'renamed' })), ['chat'], 'list() of the new name')
    await bench.sessions.delete(renamed)
    checkEqual(await bench.other.recordings.get(moved), undefined, 'delete() of the renamed session')
  },
}

async function fill(bench: RecordingBench): Promise<void> {
  await add(bench, ...Object.entries(keys).map(([turnId, key]) => recordingOf(turnId, {}, key)))
}

/** Stores a turn, so that the session exists. */
async function turnIn({ sessions, other, lease, wait }: RecordingBench, key: SessionKey): Promise<void> {
  await addTurns({ store: sessions, other: other.sessions, lease, wait }, key, turnOf('one'))
}

/** The ids of the turns that still have a recording. */
async function left({ other }: RecordingBench): Promise<string[]> {
  const lists = await Promise.all(['agent', 'other'].map((agent) => listAll(other, { agent })))
  return idsOf(lists.flat()).toSorted()
}

function ownerOf({ tenant, owner }: SessionKey): Erasure {
  return { tenant, owner }
}
