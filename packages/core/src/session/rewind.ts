import { equalJson } from '../messages/json.ts'
import type { Message } from '../messages/message.ts'
import type { SessionScope } from '../rings/session/session-scope.ts'
import type { StoredTurn } from '../seams/session-store.ts'
import type { Snapshot } from '../state/snapshot.ts'
import type { AbortableWaits } from './abortable-waits.ts'
import { beginEntry, entryOf } from './entry.ts'
import { releaseKeepers } from './keepers.ts'

/**
 * Restores the session to its state after a turn. In the store, this is an entry that truncates the history.
 *
 * @throws AlliumError `session.unknown_turn`, or the store's error; nothing has changed then
 */
export async function rewind(scope: SessionScope, turnId: string, waits: AbortableWaits): Promise<void> {
  await beginEntry(scope, waits)
  let begun = scope.keepers?.length ?? 0
  let rollback = () => {}
  try {
    const snapshot = await waits.until(snapshotAt(scope, turnId))
    const from = Math.min(scope.stored, snapshot.history.length)
    rollback = scope.rewind(snapshot, turnId)
    const entry = entryOf(scope, 'rewound', from)
    for (const keeper of scope.keepers ?? []) {
      begun--
      await keeper.end?.(entry)
    }
    scope.markStored(snapshot.history.length)
  } catch (error) {
    rollback()
    await waits.until(releaseKeepers(scope, begun))
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
    for (const keeper of scope.keepers ?? []) {
      const turn = await keeper.find?.(turnId)
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
