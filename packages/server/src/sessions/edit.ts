import type { Lease, SessionKey } from '@allium/core'
import { digestOf, interruptedTurn } from '@allium/core/internal'
import type { SessionStore } from '@allium/store'
import type { Limits, RunReader, Stores } from '../host/host.ts'
import { type Caller, keyOf } from '../request/caller.ts'
import type { HistoryEntry } from '../request/read-history.ts'
import { activeDurableRun } from './display-messages.ts'
import { busyError, entryOf, isFork, storeSnapshot, withLease } from './fork.ts'
import { type MessageIds, replacedMessage } from './message-position.ts'

/**
 * Removes the message that a client's newest message takes the place of, and everything after it. The former conversation becomes a
 * session of the same owner, which is deleted with this one. Pending calls end as not approved.
 *
 * @throws AlliumError `session.busy` while a run is active; nothing has changed then
 */
export async function cutBefore(
  host: Stores & RunReader & Limits,
  caller: Caller,
  sessionId: string,
  ids: MessageIds,
): Promise<void> {
  const { sessions, clock, slots } = host
  const key = keyOf(caller, sessionId)
  const cut = async (lease: Lease) => {
    if ((await activeDurableRun(host, caller, key)) !== undefined) throw busyError(key)
    const open = (await sessions.load(key))?.open
    // The process of this run was lost.
    if (open !== undefined) await sessions.append(lease, lease.version, interruptedTurn(open, clock.now()))
    const replaced = await replacedMessage(sessions, key, ids)
    const stored = await sessions.load(key)
    // Another request has edited the message meanwhile.
    if (replaced === undefined || stored === undefined) return
    const { history, version, rest } = stored
    const edit = (await lastEdit(sessions, key)) + 1
    const former = await formerKey(key, edit)
    const { from, ...before } = await stateBefore(sessions, key, replaced)
    const { runCount, usedApprovals } = rest
    const snapshot = { ...before, history: [], runCount, usedApprovals }
    const turn = entryOf({ turnId: editId(edit), status: 'rewound', agent: caller.agent.name, from }, host, snapshot)
    // An earlier attempt may have stopped after its copy.
    await sessions.delete(former)
    try {
      await storeSnapshot(host, caller, former.sessionId, async () => ({ ...rest, history }))
      await sessions.append(lease, version, turn)
    } catch (error) {
      // Without the edit, as when the session was deleted or erased meanwhile, nothing would delete the copy later.
      if ((await sessions.find(key, { turnId: editId(edit) })) === undefined) await sessions.delete(former)
      throw error
    }
    await deleteUnused(host, await formerKey(key, edit - maxFormers))
  }
  await slots.sessions.run(caller, () => withLease(host, key, cut))
}

/** Most former conversations of a session, without those that their owner continued. Each is a copy. */
const maxFormers = 20

/** Deletes a former conversation in which no run was started. */
async function deleteUnused({ sessions, events }: Stores, key: SessionKey): Promise<void> {
  const isUnused = (await sessions.head(key))?.version === 1 && (await events.latest(key)) === undefined
  if (isUnused) await sessions.delete(key)
}

/** Returns the state from before the run with a message, and the index at which that run begins. */
async function stateBefore(
  sessions: Pick<SessionStore, 'find'>,
  key: SessionKey,
  { version = 0, index }: HistoryEntry,
) {
  const written = await sessions.find(key, { version })
  // A forked session begins with the state that it was forked with.
  const isForked = written !== undefined && isFork(written)
  const before = isForked ? written : await sessions.find(key, { version: version - 1 })
  const { state = {}, turnCount = 0 } = before?.rest ?? {}
  const length = before === undefined ? 0 : before.from + before.messages.length
  return { state, turnCount, from: Math.min(index, length) }
}

/**
 * Returns the key of the conversation that an edit replaced. It may exist without the edit, which may have stopped after its copy. The id does
 * not contain that of the session, which can be as long as an id may be, and it is none that an owner would choose.
 */
export async function formerKey(key: SessionKey, edit: number): Promise<SessionKey> {
  return { ...key, sessionId: `edited-${(await digestOf([key.sessionId, edit])).slice(0, 32)}` }
}

function editId(edit: number): string {
  return `edit:${edit}`
}

/** Returns the number of the latest edit, by bisection. Edits are counted from 1. */
export async function lastEdit(sessions: Pick<SessionStore, 'find'>, key: SessionKey): Promise<number> {
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
