import { awaitedCalls, type History } from '../../messages/history.ts'
import type { Message } from '../../messages/message.ts'

/** Where a history stands: the function that it gives brings it back there, whatever a run has done. */
export function tailRollback(history: History): () => void {
  const { items, changedFrom, mayAwait } = history
  // A run adds messages, and results to the last answer's calls, or to those of a provider: what stands before stays.
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

/** The same for a history that is to be replaced as a whole, before `then`. */
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

/** Marks the last answer of a run that has ended, unless it waits; gives the first message that the run has changed. */
export function markInterrupted(history: History, ended: boolean): number {
  const { items, changedFrom } = history
  const last = items.findLastIndex(({ role }) => role === 'assistant')
  const answer = items[last]
  if (ended && answer !== undefined && last >= changedFrom) history.replace(last, { ...answer, interrupted: true })
  return changedFrom
}
