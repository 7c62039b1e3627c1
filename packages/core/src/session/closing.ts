import { equalJson } from '../messages/json.ts'
import type { SessionScope } from '../rings/session/session-scope.ts'
import { AbortableWaits } from './abortable-waits.ts'
import { beginEntry, entryOf } from './entry.ts'

/**
 * Returns a function to call after the session layers have closed. It stores the state and messages that they still
 * wrote, as an entry with the status `closed`. Undefined if the session is not stored.
 */
export function closing(scope: SessionScope): (() => Promise<void>) | undefined {
  const { keepers = [] } = scope
  if (keepers.length === 0) return undefined
  const before = scope.state.persistent()
  const { length } = scope.history.items
  return async () => {
    if (scope.history.items.length === length && equalJson(before, scope.state.persistent())) return
    await beginEntry(scope, new AbortableWaits((error) => scope.report(error, 'session:end')))
    const entry = entryOf(scope, 'closed', Math.min(scope.stored, scope.history.items.length))
    for (const keeper of keepers) await keeper.end?.(entry)
    scope.markStored(entry.from + entry.messages.length)
  }
}
