import { History } from '../../messages/history.ts'
import type { StoredTurn } from '../../seams/session-store.ts'
import { markInterrupted } from './history-rollback.ts'

/** Returns a run whose process was lost as an interrupted turn: its input and completed steps, with a result for every call. */
export function interruptedTurn(open: StoredTurn, endedAt: number): StoredTurn {
  const history = new History()
  history.push(open.messages)
  history.mayAwait = true
  history.closePending('Interrupted.')
  history.closeAwaited()
  history.changedFrom = 0
  markInterrupted(history, true)
  const { turnCount = 0 } = open.rest
  const rest = { ...open.rest, turnCount: turnCount + 1 }
  return { ...open, status: 'interrupted', code: 'run.interrupted', endedAt, messages: history.items, rest }
}
