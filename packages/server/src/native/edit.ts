import { digestOf, type SessionKey } from '@allium/core'
import { interruptedTurn } from '@allium/core/internal'
import type { SessionStore, StoredSession } from '@allium/store'
import type { Host } from '../host/host.ts'
import { type Caller, keyOf } from '../request/caller.ts'
import { activeDurableRun } from './display-messages.ts'
import { busyError, entryOf, fork, isFork, withLease } from './fork.ts'
import { type MessageIds, replacedIndex, turnAt } from './message-position.ts'

/**
 * Removes the message that a client's newest message takes the place of, and everything after it. The former conversation becomes a
 * session of the same owner, which is deleted with this one. Pending calls end as not approved.
 *
 * @throws AlliumError `session.busy` while a run is active; nothing has changed then
 */
export async function cutBefore(host: Host, caller: Caller, sessionId: string, ids: MessageIds): Promise<void> {
  const { sessions, clock } = host
  const key = keyOf(caller, sessionId)
  await withLease(host, key, async (lease) => {
    if ((await activeDurableRun(host, caller, key)) !== undefined) throw busyError(key)
    let stored = await sessions.load(key)
    if (stored?.open !== undefined) {
      // The process of this run was lost.
      await sessions.append(lease, stored.version, interruptedTurn(stored.open, clock.now()))
      stored = await sessions.load(key)
    }
    if (stored === undefined) return
    const index = replacedIndex(stored.history, ids)
    // Another request has edited the message meanwhile.
    if (index === undefined) return
    const edit = (await lastEdit(sessions, key)) + 1
    const former = await formerKey(key, edit)
    // An earlier attempt may have stopped after its copy.
    await sessions.delete(former)
    await fork(host, caller, { from: sessionId, to: former.sessionId })
    const { from, ...before } = await stateBefore(host, key, stored, index)
    const { runCount, usedApprovals } = stored.rest
    const snapshot = { ...before, history: [], runCount, usedApprovals }
    const turn = entryOf({ turnId: editId(edit), status: 'rewound', agent: caller.agent.name, from }, host, snapshot)
    await sessions.append(lease, stored.version, turn)
  })
}

/** Returns the state from before the run with the message at an index, and the index at which that run begins. */
async function stateBefore({ sessions }: Host, key: SessionKey, stored: StoredSession, index: number) {
  const written = await turnAt(sessions, key, stored, index)
  // A forked session begins with the state that it was forked with.
  const before =
    written !== undefined && isFork(written.turn)
      ? written.turn
      : await sessions.find(key, { version: (written?.version ?? 0) - 1 })
  const { state = {}, turnCount = 0 } = before?.rest ?? {}
  const length = before === undefined ? 0 : before.from + before.messages.length
  return { state, turnCount, from: Math.min(index, length) }
}

/** Returns the keys of the conversations that edits replaced. The last one may not exist: an edit may have stopped after its copy. */
export async function formerKeys(sessions: SessionStore, key: SessionKey): Promise<SessionKey[]> {
  const edits = (await lastEdit(sessions, key)) + 1
  return Promise.all(Array.from({ length: edits }, (_, index) => formerKey(key, index + 1)))
}

/** The id does not contain the id of the session, which can be as long as an id may be, and it is none that an owner would choose. */
async function formerKey(key: SessionKey, edit: number): Promise<SessionKey> {
  return { ...key, sessionId: `edited-${(await digestOf([key.sessionId, edit])).slice(0, 32)}` }
}

function editId(edit: number): string {
  return `edit:${edit}`
}

/** Returns the number of the latest edit, by bisection. Edits are counted from 1. */
async function lastEdit(sessions: SessionStore, key: SessionKey): Promise<number> {
  const exists = async (edit: number) => (await sessions.find(key, { turnId: editId(edit) })) !== undefined
  let [last, none] = [0, 1]
  while (await exists(none)) [last, none] = [none, none * 2]
  while (none - last > 1) {
    const middle = (last + none) >> 1
    if (await exists(middle)) last = middle
    else none = middle
  }
  return last
}
