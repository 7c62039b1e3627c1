import { History } from '../../messages/history.ts'
import type { StoredTurn } from '../../ports/session-store.ts'

/** Returns a function that restores the history to this point. Messages are replaced, never changed, so a list is enough. */
export function historyRollback(history: History): () => void {
  const { changedFrom, mayAwait } = history
  const items = history.items.slice()
  return () => {
    history.items.length = 0
    for (const message of items) history.items.push(message)
    history.changedFrom = changedFrom
    history.mayAwait = mayAwait
  }
}

/**
 * Marks the last answer of an ended run as interrupted, unless it is suspended. Returns the index of the first message
 * that the run changed.
 */
export function markInterrupted(history: History, ended: boolean): number {
  const { items, changedFrom } = history
  const last = items.findLastIndex(({ role }) => role === 'assistant')
  const answer = items[last]
  if (ended && answer !== undefined && last >= changedFrom) history.replace(last, { ...answer, interrupted: true })
  return changedFrom
}

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
