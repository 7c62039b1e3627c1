import type { SessionKey, Snapshot } from '@allium/core'
import type { SessionStore } from '@allium/store'
import type { RecordedTurn } from '../recorded-turn.ts'

/**
 * Returns the session before a recorded turn, with the history that the recording refers to. Undefined if the store no longer has it: it
 * was erased, expired, rewound or replaced by a session of another length.
 */
export async function sessionBefore(
  sessions: Pick<SessionStore, 'load'> | undefined,
  key: SessionKey,
  { before: { version, messages, turnCount = 0 } }: RecordedTurn,
): Promise<Snapshot | undefined> {
  if (version === undefined || version === 0)
    return messages === 0 && turnCount === 0 ? { history: [], state: {} } : undefined
  const stored = await sessions?.load(key, { version })
  if (stored === undefined || stored.version !== version || stored.history.length !== messages) return undefined
  return { ...stored.rest, history: stored.history }
}
