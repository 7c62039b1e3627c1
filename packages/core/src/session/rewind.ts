import { equalJson } from '../messages/json.ts'
import type { Message } from '../messages/message.ts'
import type { StoredTurn } from '../ports/session-store.ts'
import type { Snapshot } from '../state/snapshot.ts'
import { entryOf } from '../turn/stored-turn.ts'
import type { AbortableWaits } from './abortable-waits.ts'
import type { aroundRun } from './around-run.ts'
import type { LiveRun } from './live-run.ts'
import type { SessionScope } from './scope/session-scope.ts'

/**
 * Restores the session to its state after a turn. In the store, this is an entry that truncates the history.
 *
 * @param run can be aborted until the session has changed
 * @param around `aroundRun`. Imported here, it would be in programs without an agent: this file is loaded later, and bundlers share what it imports
 * @throws AlliumError `session.unknown_turn`, or the store's error; nothing has changed then
 */
export async function rewind(
  scope: SessionScope,
  turnId: string,
  { run, waits, around }: { run: LiveRun; waits: AbortableWaits; around: typeof aroundRun },
): Promise<void> {
  let rollback: (() => void) | undefined
  const change = async () => {
    const snapshot = await waits.until(snapshotAt(scope, turnId))
    run.waits = undefined
    const from = Math.min(scope.stored, snapshot.history.length)
    rollback = scope.rewind(snapshot, turnId)
    return entryOf(scope, 'rewound', from)
  }
  try {
    scope.markStored(await around(scope, 'rewind', change, { waits }))
  } catch (error) {
    rollback?.()
    throw error
  }
}

/**
 * Returns the session as it was after a turn, from this process or from the store.
 *
 * @throws AlliumError `session.unknown_turn`
 */
export async function snapshotAt(scope: SessionScope, turnId: string): Promise<Snapshot> {
  if (!scope.knowsTurn(turnId))
    for (const find of scope.registered.provideTurns ?? []) {
      const turn = await find(turnId)
      const snapshot = turn === undefined ? undefined : snapshotAfter(turn, scope.history.items)
      if (snapshot !== undefined) return snapshot
    }
  return scope.snapshotAt(turnId)
}

/**
 * Returns undefined for a turn that has not ended, or that was rewound, because the history then has other messages in
 * its place.
 */
function snapshotAfter(
  { status, from, messages, rest: { state, turnCount } }: StoredTurn,
  history: readonly Message[],
): Snapshot | undefined {
  const length = from + messages.length
  const isThere = history.length >= length && equalJson(history.slice(from, length), messages)
  if (!isThere || status === 'running' || status === 'suspended') return undefined
  return { history: history.slice(0, length), state, ...(turnCount !== undefined && { turnCount }) }
}
