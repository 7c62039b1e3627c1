import type { Erasure, SessionKey } from '@allium/core'
import type { SessionStore } from '@allium/store'
import { checkEqual, checkRejects, checkResolves } from '../check.ts'
import { add as addTurns, chat, turnOf } from '../store/bench.ts'
import { type FeedbackBench, type FeedbackCases, feedbackOn, idsOf, listAll, put, writer } from './feedback-bench.ts'

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

/** Cases: feedback goes with its session, the owner, the person and the tenant. */
export const eraseCases: FeedbackCases = {
  async 'deletes the feedback on a session with it, also on one that was not stored'(bench) {
    await fill(bench)
    await turnIn(bench, chat)
    await bench.sessions.delete(chat)
    checkEqual(await left(bench), ['agent', 'bob', 'globex', 'other'], 'delete() of a session')
    await bench.other.sessions.delete(keys.other as SessionKey)
    checkEqual(await left(bench), ['agent', 'bob', 'globex'], 'delete() of a session without turns')
  },

  async 'erases the feedback on the sessions of an owner, and of a tenant, and no others'(bench) {
    await fill(bench)
    await turnIn(bench, chat)
    await bench.sessions.erase(ownerOf(chat))
    checkEqual(await left(bench), ['bob', 'globex'], 'erase() of an owner, for every agent')
    await bench.other.sessions.erase({ tenant: chat.tenant })
    checkEqual(await left(bench), ['globex'], 'erase() of a tenant')
  },

  async 'erases the feedback of a person on the sessions of others, and no feedback of others'(bench) {
    const onBob = keys.bob as SessionKey
    await put(bench, feedbackOn('of ann', { by: 'ann' }, onBob), feedbackOn('of bob', { by: 'bob' }, onBob))
    await put(bench, feedbackOn('of ann at globex', { by: 'ann' }, { ...onBob, tenant: 'globex' }))
    await bench.sessions.erase({ tenant: chat.tenant, owner: 'ann' })
    checkEqual(await left(bench), ['of ann at globex', 'of bob'], 'erase() of a person')
  },

  async 'deletes the feedback on sessions that expire'(bench) {
    await fill(bench)
    await turnIn(bench, chat)
    await turnIn(bench, keys.globex as SessionKey)
    await bench.wait(bench.lease * 3)
    checkEqual(await bench.sessions.expire({ olderThan: bench.lease * 2 }), 2, 'expire() deletes two sessions')
    checkEqual(await left(bench), ['agent', 'bob', 'other'], 'and the feedback on them')
  },

  async 'rejects feedback on a session that was erased, with its owner or tenant, while it was given'(bench) {
    for (const [what, erase] of Object.entries(erasures)) {
      const by = await writer(bench)
      await bench.wait(bench.lease)
      await erase(bench.other.sessions)
      await checkRejects(bench.feedback.put(feedbackOn('late'), by), 'store.fenced', `put() after ${what}`)
      const unaffected = bench.feedback.put(feedbackOn('globex', {}, keys.globex), { ...by, tenant: 'globex' })
      await checkResolves(unaffected, 'Another tenant is not affected')
      checkEqual(await left(bench), ['globex'], 'and only its feedback is stored')
    }
  },

  async 'rejects feedback of a person who was erased while they gave it'(bench) {
    const by = { ...(await writer(bench)), owner: 'bob' }
    await bench.wait(bench.lease)
    await bench.other.sessions.erase({ tenant: chat.tenant, owner: 'ann' })
    const late = bench.feedback.put(feedbackOn('late', { by: 'ann' }, keys.bob), by)
    await checkRejects(late, 'store.fenced', 'put() of a person who was erased')
    await put(bench, feedbackOn('of bob', { by: 'bob' }, keys.bob))
    checkEqual(await left(bench), ['of bob'], 'Only that of the owner is stored')
  },

  async 'stores feedback that is given after the erasure'(bench) {
    for (const [what, erase] of Object.entries(erasures)) {
      await erase(bench.sessions)
      await bench.wait(bench.lease)
      await checkResolves(bench.feedback.put(feedbackOn(what), await writer(bench)), `It was given after ${what}`)
      checkEqual(idsOf(await listAll(bench.other)), [what], `Given after ${what}`)
    }
  },

  async 'moves the feedback on a session whose agent was renamed, and erases it with it'(bench) {
    await fill(bench)
    await turnIn(bench, chat)
    const renamed = { ...chat, agent: 'renamed' }
    checkEqual(await bench.other.sessions.rename(renamed, [chat.agent]), true, 'The session is moved')
    const moved = feedbackOn('chat', { comment: 'chat' }, renamed)
    checkEqual(await bench.feedback.get(moved), moved, 'get() under the new name')
    checkEqual(await bench.feedback.get(feedbackOn('chat')), undefined, 'and not under the former one')
    checkEqual(idsOf(await listAll(bench, { agent: 'renamed' })), ['chat'], 'list() of the new name')
    await bench.sessions.delete(renamed)
    checkEqual(await bench.other.feedback.get(moved), undefined, 'delete() of the renamed session')
  },
}

async function fill(bench: FeedbackBench): Promise<void> {
  await put(
    bench,
    ...Object.entries(keys).map(([turnId, key]) => feedbackOn(turnId, { by: key.owner, comment: turnId }, key)),
  )
}

/** Stores a turn, so that the session exists. */
async function turnIn({ sessions, other, lease, wait }: FeedbackBench, key: SessionKey): Promise<void> {
  await addTurns({ store: sessions, other: other.sessions, lease, wait }, key, turnOf('one'))
}

/** The ids of the turns that still have feedback. */
async function left({ other }: FeedbackBench): Promise<string[]> {
  const lists = await Promise.all(['agent', 'other'].map((agent) => listAll(other, { agent })))
  return idsOf(lists.flat()).toSorted()
}

function ownerOf({ tenant, owner }: SessionKey): Erasure {
  return { tenant, owner }
}
