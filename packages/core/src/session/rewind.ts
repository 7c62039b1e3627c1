import { equalJson } from '../messages/json.ts'
import type { Message } from '../messages/message.ts'
import type { SessionScope } from '../rings/session/session-scope.ts'
import type { StoredTurn } from '../seams/session-store.ts'
import type { Snapshot } from '../state/snapshot.ts'
import { beginEntry, entryOf } from './entry.ts'
import { giveBack } from './keepers.ts'
import type { Waits } from './waits.ts'

/**
 * The session goes back to what it was after a turn, here and where it is stored: as an entry that cuts the history.
 *
 * @throws AlliumError `session.unknown_turn`, or what the store throws; nothing has changed then
 */
export async function rewind(scope: SessionScope, turnId: string, waits: Waits): Promise<void> {
  await beginEntry(scope, waits)
  let begun = scope.keepers?.length ?? 0
  let putBack = () => {}
  try {
    const standing = await waits.until(standingAt(scope, turnId))
    const from = Math.min(scope.stored, standing.history.length)
    putBack = scope.rewind(standing, turnId)
    const entry = entryOf(scope, 'rewound', from)
    for (const keeper of scope.keepers ?? []) {
      begun--
      await keeper.end?.(entry)
    }
    scope.isStored(standing.history.length)
  } catch (error) {
    putBack()
    await waits.until(giveBack(scope, begun))
    throw error
  }
}

/**
 * The session as it was after a turn that ended here, or that is stored.
 *
 * @throws AlliumError `session.unknown_turn`
 */
export async function standingAt(scope: SessionScope, turnId: string): Promise<Snapshot> {
  if (!scope.knowsTurn(turnId))
    for (const keeper of scope.keepers ?? []) {
      const turn = await keeper.find?.(turnId)
      const standing = turn === undefined ? undefined : standingAfter(turn, scope.history.items)
      if (standing !== undefined) return standing
    }
  return scope.snapshotAt(turnId)
}

/** Undefined for a turn that has not ended, and for one that was rewound: the history has other messages in its place. */
function standingAfter(
  { status, from, messages, rest: { state, turnCount } }: StoredTurn,
  history: readonly Message[],
): Snapshot | undefined {
  const length = from + messages.length
  const isThere = history.length >= length && equalJson(history.slice(from, length), messages)
  if (!isThere || status === 'running' || status === 'suspended') return undefined
  return { history: history.slice(0, length), state, ...(turnCount !== undefined && { turnCount }) }
}
