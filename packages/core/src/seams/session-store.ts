import type { Message } from '../messages/message.ts'
import type { Snapshot } from '../state/snapshot.ts'

/** Where a session is kept: ids of one tenant, or of one owner in it, never meet those of another. */
export interface SessionKey {
  /** @default '' where the principal tells none */
  readonly tenant: string
  /** @default '' where neither the principal nor the agent's `owner` tells one */
  readonly owner: string
  readonly sessionId: string
}

/** One run of a session, to append: the messages from `from` on are these now. */
export interface StoredTurn {
  turnId: string
  /** The agent's `version` that ran it. */
  version?: string
  /** How the run ended. */
  status: string
  /** Index in the history of the first message; what stood there and after it is replaced. */
  from: number
  messages: Message[]
  /** The rest of the session's snapshot after this turn. */
  rest: Omit<Snapshot, 'history'>
}

/** A session that was stored. */
export interface StoredSession {
  /** Turns that were appended. */
  version: number
  history: Message[]
  rest: Omit<Snapshot, 'history'>
}

/** The right to append to a session for a while. */
export interface Lease {
  readonly key: SessionKey
  /** Fencing token: it grows with each lease, and the store refuses what comes with an older one. */
  readonly token: number
  /** Turns that were appended before. */
  readonly version: number
}

/**
 * Keeps sessions: turns are appended, never changed. Every operation is atomic. Implementations pass
 * `storeConformance` of `@allium/testing`.
 */
export interface SessionStore {
  load(key: SessionKey): Promise<StoredSession | undefined>
  /** Takes the session for `ms` milliseconds; undefined while somebody else has it. */
  acquire(key: SessionKey, ms: number): Promise<Lease | undefined>
  /** Gives it `ms` more from now on; false where the lease was lost. */
  renew(lease: Lease, ms: number): Promise<boolean>
  release(lease: Lease): Promise<void>
  /**
   * @param version turns that were appended so far, as the caller knows it
   * @throws AlliumError `store.fenced` where the lease was lost, `store.conflict` where more or fewer turns were appended
   */
  append(lease: Lease, version: number, turn: StoredTurn): Promise<void>
  /** Forgets a session. Deleting one that is not there does nothing. */
  delete(key: SessionKey): Promise<void>
}

/** Who stores a session: a layer gives one to `ctx.keep()` while its session opens. */
export interface SessionKeeper {
  /**
   * Before each run: may restore what another process has appended. What it throws refuses the run.
   *
   * @param abort ends the run, for a keeper that learns that it can store it no more
   */
  begin?(abort: (reason: unknown) => void): void | Promise<void>
  /**
   * When a run has ended and its history and state are final; without a turn, where the run was refused after `begin`.
   * The run waits for it, and fails with what it throws.
   */
  end?(turn: StoredTurn | undefined): void | Promise<void>
}
