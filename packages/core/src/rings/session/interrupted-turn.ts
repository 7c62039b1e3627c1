import { History } from '../../messages/history.ts'
import type { StoredTurn } from '../../seams/session-store.ts'
import { markInterrupted } from './history-rollback.ts'

/** A run whose process was lost, as what it leaves: its question, the steps that it had done, and no call without a result. */
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
