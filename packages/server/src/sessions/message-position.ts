import type { SessionKey } from '@allium/core'
import type { SessionStore } from '@allium/store'
import { requestError } from '../http/problem.ts'
import { endOfHistory, type HistoryEntry, isInput, readHistory } from '../request/read-history.ts'

/** The ids of a client's newest message, and of the user message before it in the client's list. */
export interface MessageIds {
  readonly id: string
  readonly previous?: string | undefined
}

/**
 * Returns the message that a client's newest message takes the place of: the one with its id, or the one after the message before it.
 * Undefined if it continues the history. Reads from the end, and stops at the first of the two ids.
 *
 * Messages without an id were not sent by a page, so a page whose list lacks them has not removed them.
 *
 * @throws AlliumError `store.conflict` if the message was delivered to a run
 */
export async function replacedMessage(
  sessions: Pick<SessionStore, 'history'>,
  key: SessionKey,
  { id, previous }: MessageIds,
): Promise<HistoryEntry | undefined> {
  let next: HistoryEntry | undefined
  let isPage = true
  for await (const entry of backwards(sessions, key)) {
    const { message } = entry
    if (message.steer === id)
      throw requestError('store.conflict', `The message ${JSON.stringify(id)} was delivered to an earlier run already.`)
    if (!isInput(entry)) continue
    if (hasId(entry, id)) return entry
    if (previous !== undefined && hasId(entry, previous)) return isPage ? next : undefined
    isPage &&= message.id !== undefined
    next = entry
  }
  return undefined
}

/** Whether a message has the id that its client gave it, or that the list of messages shows. */
export function hasId({ message, index }: HistoryEntry, id: string): boolean {
  return (message.id ?? `message-${index}`) === id
}

/** Reads few messages first, because a page mostly continues the last ones. */
async function* backwards(sessions: Pick<SessionStore, 'history'>, key: SessionKey): AsyncGenerator<HistoryEntry> {
  for (let before = endOfHistory, limit = 10; before > 0; limit = 1000) {
    const { entries } = await readHistory(sessions, key, { before, limit })
    yield* entries.toReversed()
    before = entries[0]?.index ?? 0
  }
}
