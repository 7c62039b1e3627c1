import type { Writer } from '@allium/core'
import type { RunKey } from '@allium/store'

/** A recorded turn, as a store keeps it. */
export interface Recording extends RunKey {
  /** When the turn began, in milliseconds since the epoch. */
  readonly startedAt: number
  /** When the store deletes it, in milliseconds since the epoch. */
  readonly expiresAt: number
  /** A `RecordedTurn` as JSON text. */
  readonly content: string
}

/** Where recordings are stored: the `recordings` of a store. */
export interface RecordingStore {
  /** Whether contents are encrypted. */
  readonly sealed: boolean
  /** Stores a recording in place of an earlier one of the same turn. @param by the owner of the recorded run */
  add(recording: Recording, by?: Writer): Promise<void>
}
