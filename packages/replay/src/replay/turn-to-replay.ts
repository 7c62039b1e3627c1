import type { SessionKey, Snapshot } from '@allium/core'
import type { RecordedTurn } from '../recorded-turn.ts'

/** A recorded turn with the session that it began with, as `readRecordings()` returns it. */
export interface TurnToReplay {
  readonly key: SessionKey
  readonly turnId: string
  readonly recorded: RecordedTurn
  /** The session before the turn. */
  readonly before: Snapshot
}
