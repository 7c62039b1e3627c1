import type { Message, SessionKey } from '@allium/core'
import type { SessionStore } from '@allium/store'

/** A message of the history. */
export interface HistoryEntry {
  readonly index: number
  readonly message: Message
  readonly turnId: string
  /** The number of stored turns after that of the message; undefined while it runs. */
  readonly version: number | undefined
}

/** The messages of a page, and whether a run is active that has stored something. */
export interface History {
  readonly entries: readonly HistoryEntry[]
  readonly running: boolean
}

/** No history is longer. */
export const endOfHistory = 2_147_483_647

/**
 * Returns at least the last `limit` messages before an index, back to an input, because an answer has several messages. A page of large
 * messages has fewer. Leaves out the answer of an active run, which comes in its stream.
 */
export async function readHistory(
  sessions: Pick<SessionStore, 'history'>,
  key: SessionKey,
  { before = endOfHistory, limit }: { before?: number; limit: number },
): Promise<History> {
  let entries: HistoryEntry[] = []
  let running = false
  for (let from = before, until = 0; from !== until && from > 0 && !entries.some(isInput); ) {
    until = from
    for (const { messages, ...turn } of await sessions.history(key, { before: until, limit })) {
      const { turnId, version, from: start, resumes } = turn
      running ||= version === undefined
      if (start >= from || resumes !== undefined) continue
      const shown = (version === undefined ? inputOf(messages) : messages).slice(0, from - start)
      entries = [...shown.map((message, i) => ({ index: start + i, message, turnId, version })), ...entries]
      from = start
    }
  }
  return { entries, running }
}

/** Whether a message is an input, with which a page may begin. */
export function isInput({ message: { role, steer } }: HistoryEntry): boolean {
  return role === 'user' && steer === undefined
}

function inputOf(messages: readonly Message[]): readonly Message[] {
  const answer = messages.findIndex(({ role, steer }) => role === 'assistant' || steer !== undefined)
  return answer === -1 ? messages : messages.slice(0, answer)
}
