import { entryOf } from '../loop/stored-turn.ts'
import { equalJson } from '../messages/json.ts'
import type { SessionScope } from '../rings/session/session-scope.ts'
import { AbortableWaits } from './abortable-waits.ts'
import { aroundRun } from './around-run.ts'

/**
 * Returns a function to call after the session layers have closed. It stores the state and messages that they still
 * wrote, as an entry with the status `closed`. Undefined if nothing wraps the session's runs.
 */
export function closing(scope: SessionScope): (() => Promise<void>) | undefined {
  if (scope.registered.aroundRun === undefined) return undefined
  const before = scope.state.persistent()
  const { items } = scope.history
  const { length } = items
  return async () => {
    if (items.length === length && equalJson(before, scope.state.persistent())) return
    const waits = new AbortableWaits((error) => scope.report(error, 'session:end'))
    const change = async () => entryOf(scope, 'closed', Math.min(scope.stored, items.length))
    scope.markStored(await aroundRun(scope, 'close', change, { waits }))
  }
}
