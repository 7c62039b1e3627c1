import type { Writer } from '@allium/core'
import type { RunKey } from './event-log.ts'
import type { Page } from './session-store.ts'

/** A recorded turn in a list, without its content. */
export interface RecordingInfo extends RunKey {
  /** When the turn began, in milliseconds since the epoch. */
  readonly startedAt: number
  /** When the store deletes it, in milliseconds since the epoch. */
  readonly expiresAt: number
  /** The size of its content: the UTF-8 bytes before encryption. */
  readonly bytes: number
}

/** A recorded turn: everything that a replay needs. */
export interface Recording extends Omit<RecordingInfo, 'bytes'> {
  /** A text, usually JSON. A store with `encrypt` seals it. */
  readonly content: string
}

/** Selects the recordings of one agent. */
export interface RecordingQuery {
  /** The `agent` of the session keys. */
  readonly agent: string
  /** @default all tenants, for an operator. Always pass it on behalf of a user */
  readonly tenant?: string | undefined
  /** Turns that began at or after this time. @default the first */
  readonly since?: number | undefined
  /** Turns that began before this time. @default the last */
  readonly until?: number | undefined
  /** By the start of the turns: `desc` begins with the newest. @default 'desc' */
  readonly order?: 'asc' | 'desc' | undefined
  readonly cursor?: string | undefined
  readonly limit: number
}

/** The recordings of a tenant. Expired ones count until they are deleted. */
export interface RecordingSizes {
  readonly tenant: string
  readonly count: number
  /** The sum of their sizes. */
  readonly bytes: number
  /** When the oldest turn began, in milliseconds since the epoch. */
  readonly oldestAt: number
}

/**
 * Stores recorded turns until they expire. They are erased with their session, their owner and their tenant. A session's recordings move
 * with it when its agent is renamed. Implementations pass `recordingStoreConformance` of `@allium/testing/recordings`.
 *
 * @throws AlliumError `store.unavailable`, `store.corrupt`, `store.sealed`, `store.full`, `store.readonly`, `store.key`
 */
export interface RecordingStore {
  /** Whether contents are encrypted. */
  readonly sealed: boolean
  /**
   * Stores a recording in place of an earlier one of the same turn, and deletes some that have expired.
   *
   * @param by the owner of the recorded run
   * @throws AlliumError `recording.too_large` if its content has more than `maxRecordingBytes` (1 MB); `store.fenced` if the session, the
   * owner or the tenant was erased since the run began
   */
  add(recording: Recording, by?: Writer): Promise<void>
  /** Returns the recording of a turn; undefined if there is none, or if it has expired. */
  get(run: RunKey): Promise<Recording | undefined>
  /** Lists recordings that have not expired. Those of turns that began at the same time keep their order on all pages. */
  list(query: RecordingQuery): Promise<Page<RecordingInfo>>
  /** Returns the number, size and age of the recordings of each tenant, by the name of the tenant. */
  sizes(): Promise<RecordingSizes[]>
  /** Deletes all recordings that have expired by the store's clock. Returns how many. */
  prune(): Promise<number>
}
