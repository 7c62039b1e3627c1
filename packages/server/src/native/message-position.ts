import type { Message, SessionKey, StoredTurn } from '@allium/core'
import type { SessionStore, StoredSession } from '@allium/store'

/** The ids of a client's newest message, and of the user message before it in the client's list. */
export interface MessageIds {
  readonly id: string
  readonly previous?: string | undefined
}

/** Returns the history with the messages of a run that has not ended, such as one whose process was lost. */
export function currentHistory({ history, open }: StoredSession): readonly Message[] {
  return open === undefined ? history : [...history.slice(0, open.from), ...open.messages]
}

/**
 * Returns the index of the message that a client's newest message takes the place of: the one with its id, or the one after the message
 * before it. Undefined if it continues the history.
 *
 * Messages without an id were not sent by a page, so a page whose list lacks them has not removed them.
 */
export function replacedIndex(history: readonly Message[], { id, previous }: MessageIds): number | undefined {
  const own = indexOf(history, id)
  if (own !== -1) return own
  const before = previous === undefined ? -1 : indexOf(history, previous)
  if (before === -1) return undefined
  const later = history.flatMap((message, index) => (index > before && isInput(message) ? [index] : []))
  return later.every((index) => history[index]?.id !== undefined) ? later[0] : undefined
}

/** Finds a message by the id that its client gave it, or that the list of messages shows. */
function indexOf(history: readonly Message[], id: string): number {
  return history.findLastIndex((message, index) => isInputWith(id, message, index))
}

export function isInputWith(id: string, message: Message, index: number): boolean {
  return isInput(message) && (message.id ?? `message-${index}`) === id
}

function isInput({ role, steer }: Message): boolean {
  return role === 'user' && steer === undefined
}

/** A turn with the version of the session that its append made. */
export interface StoredVersion {
  readonly version: number
  readonly turn: StoredTurn
}

/** Returns the turn that wrote the message at an index. Reads only that turn and the later ones. */
export async function turnAt(
  sessions: SessionStore,
  key: SessionKey,
  { version: latest, open }: StoredSession,
  index: number,
): Promise<StoredVersion | undefined> {
  if (open !== undefined && open.from <= index) return { version: latest + 1, turn: open }
  for (let version = latest; version > 0; version--) {
    const turn = await sessions.find(key, { version })
    if (turn !== undefined && turn.from <= index) return { version, turn }
  }
  return undefined
}
