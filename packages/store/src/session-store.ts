import type { Lease, Message, SessionKey, Snapshot, StoredRecord, StoredTurn } from '@allium/core'
import type { StoredStatus } from '@allium/core/internal'
import type { PassageTurn } from './passage-store.ts'

/** A stored session. */
export interface StoredSession {
  /** Number of appended turns. */
  version: number
  owner: string
  history: Message[]
  rest: Omit<Snapshot, 'history'>
  /** The checkpointed run that was not appended yet. It is not part of the history. */
  open?: StoredTurn
}

/** The lease, or the time until which another process holds the session: milliseconds since the epoch by the store's clock. */
export type Acquired = { lease: Lease; heldUntil?: undefined } | { lease?: undefined; heldUntil: number }

/**
 * A run in progress, as a checkpoint. If `after` has messages, the first messages, calls and records of the checkpoint before stay, as many
 * as it says, and the run has only those that come after them. Its other fields are those of the whole run.
 */
export type Checkpoint = StoredTurn & { readonly after?: Readonly<Record<'messages' | 'calls' | 'records', number>> }

/** The lookup key of a run. */
export type FindBy = { turnId: string } | { idempotencyKey: string } | { version: number }

/** When the images and files of a run are read. */
export type ReadFiles = 'atOnce' | 'onDemand'

/** One page of a tenant's items. With a `cursor` there are more. A cursor is only a position and grants no access. */
export interface Page<T> {
  items: T[]
  cursor?: string
}

/** A session in a list. */
export interface SessionSummary {
  key: SessionKey
  /** Number of appended turns. */
  version: number
  /** How the last turn ended; `running` while one runs. */
  status: StoredStatus
  /** The time of the last append or checkpoint, in milliseconds since the epoch by the store's clock. */
  updatedAt: number
}

/** A session without its messages. */
export type SessionHead = Pick<StoredSession, 'version' | 'rest'>

/** The messages of one run. A later run replaces those from its own `from` on. */
export interface HistoryTurn extends Pick<StoredTurn, 'turnId' | 'from' | 'messages'> {
  /** The number of turns after its append; undefined for the run in progress. */
  version?: number
  /** The run that the run in progress resumes. */
  resumes?: string
}

/** A pending tool call in a stored session. */
export interface StoredPendingCall {
  key: SessionKey
  turnId: string
  callId: string
  name: string
  /** Milliseconds since the epoch. After that, the call can only be denied. */
  expiresAt?: number
}

/** A record for delivery, at least once, until its consumer marks it as done. */
export interface OutboxRecord extends StoredRecord {
  tenant: string
  turnId: string
}

/** The records of turns, for consumers that act on them, such as invoices or webhooks. Each consumer has its own position. */
export interface Outbox {
  /** Leases up to `limit` records for `ms` milliseconds, oldest first. Records that are not done by then are delivered again. */
  claim(consumer: string, limit: number, ms: number): Promise<OutboxRecord[]>
  /** Marks these records as done for this consumer. */
  done(consumer: string, ids: readonly string[]): Promise<void>
}

/**
 * Stores sessions. Turns are appended and never changed. Every operation is atomic and names its tenant. Implementations pass
 * `storeConformance` of `@allium/testing`.
 *
 * @throws AlliumError `store.unavailable`, `store.corrupt`, `store.full`, `store.readonly`, `store.key`
 */
export interface SessionStore {
  /**
   * @param options.version returns the session after this many turns; undefined if there were fewer, or none
   * @default the last turn, with the run in progress
   */
  load(key: SessionKey, options?: { version?: number }): Promise<StoredSession | undefined>
  /**
   * Returns the session without its messages, so its cost does not depend on their number.
   *
   * @param options.turnId returns the session after this run; undefined if it has not ended
   * @default the last turn
   */
  head(key: SessionKey, options?: { turnId?: string }): Promise<SessionHead | undefined>
  /**
   * Returns the run in progress, and the runs with the last `limit` messages before an index of the history, newest first. A page of
   * large messages may have fewer, but at least one run. Images and files that the store keeps apart are {@link StoredFile}s.
   *
   * @param of.before the index; any number from the length of the history on is its end
   */
  history(key: SessionKey, of: { before: number; limit: number }): Promise<HistoryTurn[]>
  /** Leases the session for `ms` milliseconds of the store's clock, or returns how long another process holds it. */
  acquire(key: SessionKey, ms: number): Promise<Acquired>
  /** Extends the lease to `ms` from now, even an expired one that was not taken by another process. False if it was lost. */
  renew(lease: Lease, ms: number): Promise<boolean>
  release(lease: Lease): Promise<void>
  /**
   * Stores a run in progress: what is new since the checkpoint before, or the whole run in place of that. The version stays the same.
   * Storing the same checkpoint again changes nothing.
   *
   * @throws AlliumError `store.fenced`, `store.conflict` as `append` does; also `store.conflict` for a run that has ended, and if the
   * checkpoint before is of another run, begins elsewhere or has fewer messages than `after`
   */
  checkpoint(lease: Lease, version: number, turn: Checkpoint): Promise<void>
  /**
   * Appends a run that has ended, deletes its checkpoint and puts its records in the outbox. Appending the same run again changes
   * nothing, even after the lease was lost. In a store with passages it also deletes those of the session from the turn's `from` on, and
   * adds those of the turn, which are not part of its identity.
   *
   * @param version number of appended turns that the caller knows of
   * @param options.release also releases the lease
   * @throws AlliumError `store.fenced` if the lease was lost; `store.conflict` if more or fewer turns were appended, if `from` is
   * beyond the end of the history, or if another run has the same id
   */
  append(lease: Lease, version: number, turn: PassageTurn, options?: { release?: boolean }): Promise<void>
  /**
   * Returns a run of the session, including one in progress. With `version`, the run whose append made that version.
   *
   * @param options.files `onDemand` leaves the images and files of its messages unread, as `history` does
   */
  find(key: SessionKey, by: FindBy, options?: { files?: ReadFiles }): Promise<StoredTurn | undefined>
  /**
   * Lists the sessions of a tenant, or of one owner in it, most recently changed first.
   *
   * @param of.agents the `agent` values of the keys to list @default all
   */
  list(of: {
    tenant: string
    owner?: string
    agents?: readonly string[]
    cursor?: string
    limit: number
  }): Promise<Page<SessionSummary>>
  /** Lists the pending calls of a tenant, optionally of one owner or of some agents' sessions, oldest first. */
  pendingCalls(of: {
    tenant: string
    owner?: string
    agents?: readonly string[]
    cursor?: string
    limit: number
  }): Promise<Page<StoredPendingCall>>
  /** Returns the pending call with this token, in a tenant or in the sessions of some of its agents. */
  findPendingCall(of: {
    tenant: string
    agents?: readonly string[]
    token: string
  }): Promise<StoredPendingCall | undefined>
  /**
   * Moves a session, with all its data, from another name of its agent to `key`. Does nothing if there is a session under `key`.
   *
   * @param names the other names. It takes the first one that has a session with this tenant, owner and id
   * @param options.lease the caller's lease of that session. It remains valid, under `key`
   * @returns whether a session was moved
   * @throws AlliumError `session.busy` with `details.heldUntil` while another process holds that session
   */
  rename(key: SessionKey, names: readonly string[], options?: { lease?: Lease }): Promise<boolean>
  /** Deletes a session and its lease, whose holder can store nothing more. Does nothing if there is no such session. */
  delete(key: SessionKey): Promise<void>
  /**
   * Deletes all data of a tenant, or of one owner in it, for every agent. Returns the number of sessions. Writes of current runs are
   * rejected with `store.fenced`. Later runs are stored as usual. Spent amounts and usage totals stay, without a name.
   */
  erase(of: { tenant: string; owner?: string }): Promise<number>
  /**
   * Deletes sessions of all tenants whose last turn is older than `olderThan` milliseconds by the store's clock. Returns how many.
   * It keeps sessions under a lease, those with a pending call until its `expiresAt`, and documents: sessions whose `agent` begins with
   * `memory:documents/`.
   */
  expire(of: { olderThan: number }): Promise<number>
  readonly outbox: Outbox
}
