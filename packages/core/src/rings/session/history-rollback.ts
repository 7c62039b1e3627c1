import { awaitedCalls, type History } from '../../messages/history.ts'
import type { Message } from '../../messages/message.ts'

/** Returns a function that restores the history to this point, whatever a run has done since. */
export function tailRollback(history: History): () => void {
  const { items, changedFrom, mayAwait } = history
  // A run adds messages, and results to the calls of the last answer or of a provider. Earlier messages do not change.
  const [awaitedFrom = items.length] = mayAwait ? [...awaitedCalls(items).keys()].slice(-1) : []
  const last = items.findLastIndex(({ role }) => role === 'assistant')
  const from = Math.max(0, Math.min(last, awaitedFrom))
  const tail = items.slice(from)
  return () => {
    setItems(items, from, tail)
    history.changedFrom = changedFrom
    history.mayAwait = mayAwait
  }
}

/** Returns a rollback for a history that will be replaced as a whole. It restores all messages, then calls `then`. */
export function fullRollback({ items }: History, then: () => void): () => void {
  const all = items.slice()
  return () => {
    setItems(items, 0, all)
    then()
  }
}

function setItems(items: Message[], from: number, tail: readonly Message[]): void {
  items.length = from
  for (const message of tail) items.push(message)
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
