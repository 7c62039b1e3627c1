import type { Message } from '../messages/message.ts'
import type { Usage } from '../messages/usage.ts'
import type { Snapshot } from '../state/snapshot.ts'

/** Where a session is kept. Ids of one tenant, of one owner in it, or of one agent never meet those of another. */
export interface SessionKey {
  /** @default '' where the principal tells none */
  readonly tenant: string
  /** @default '' where neither the principal nor the agent's `owner` tells one */
  readonly owner: string
  /** The name under which the agent keeps its sessions: its `sessionGroup`, else its `name`. Never empty. */
  readonly agent: string
  readonly sessionId: string
}

/**
 * How a stored run stands: `running` while it is checkpointed, `interrupted` where its process was lost, `closed` for what
 * session layers wrote as the session closed, `rewound` for a session that went back to an earlier turn; else as its `turn:end` said.
 */
export type StoredStatus =
  | 'running'
  | 'interrupted'
  | 'closed'
  | 'rewound'
  | 'completed'
  | 'stopped'
  | 'suspended'
  | 'blocked'
  | 'aborted'
  | 'failed'

/** One run of a session: the messages from `from` on are these now. */
export interface StoredTurn {
  turnId: string
  /** The first run of the turn, over suspensions. */
  rootId: string
  /** The run that this one resumed. */
  resumes?: string
  /** The name of the agent that ran it. */
  agent: string
  /** The agent's `version`. */
  version?: string
  status: StoredStatus
  /** Why it was stopped, blocked, aborted or failed. */
  reason?: string
  /** The code of the error, or of the block. */
  code?: string
  /** Milliseconds since the epoch. */
  startedAt: number
  /** The same; absent while it runs. */
  endedAt?: number
  usage: Usage
  /** The answer's text; null where it has none. */
  answer: string | null
  /** Who asks again with this key gets this run. */
  idempotencyKey?: string
  /** Digest of the input that the key stands for. */
  inputDigest?: string
  /** What `ctx.record()` has kept, for the outbox. */
  records: StoredRecord[]
  /** Index in the history of the first message; what stood there and after it is replaced. */
  from: number
  messages: Message[]
  /** The rest of the session's snapshot after this turn. */
  rest: Omit<Snapshot, 'history'>
}

/** What `ctx.record()` keeps with the turn. */
export interface StoredRecord {
  /** No other record has it, also where the turn is run again. */
  id: string
  topic: string
  data: unknown
  /** Milliseconds since the epoch. */
  at: number
}

/** A session that was stored. */
export interface StoredSession {
  /** Turns that were appended. */
  version: number
  owner: string
  history: Message[]
  rest: Omit<Snapshot, 'history'>
  /** The run that was checkpointed and not appended yet; no part of the history. */
  open?: StoredTurn
}

/** The right to append to a session for a while. */
export interface Lease {
  readonly key: SessionKey
  /** Fencing token: it grows with each lease, and the store refuses what comes with an older one. */
  readonly token: number
  /** Turns that were appended before. */
  readonly version: number
  /** A run was checkpointed and has not ended: its process was lost. */
  readonly open?: true
}

/** The lease, or until when somebody else has the session, in milliseconds since the epoch by the store's clock. */
export type Acquired = { lease: Lease; heldUntil?: undefined } | { lease?: undefined; heldUntil: number }

/** What a run is found by. */
export type FindBy = { turnId: string } | { idempotencyKey: string } | { version: number }

/** A page of what a tenant has; with `cursor` there is more. A cursor is a place, and no right to what is there. */
export interface Page<T> {
  items: T[]
  cursor?: string
}

/** What a list tells of a session. */
export interface SessionSummary {
  key: SessionKey
  /** Turns that were appended. */
  version: number
  /** How the last of them ended; `running` while one goes on. */
  status: StoredStatus
  /** When a run of it was appended or checkpointed last, in milliseconds since the epoch by the store's clock. */
  updatedAt: number
}

/** A tool call that waits for a decision, in a stored session. */
export interface StoredPendingCall {
  key: SessionKey
  turnId: string
  callId: string
  name: string
  /** Milliseconds since the epoch; from then on it can only be refused. */
  expiresAt?: number
}

/** A record on its way out: at least once, until its consumer says that it is done. */
export interface OutboxRecord extends StoredRecord {
  tenant: string
  turnId: string
}

/** What turns have recorded, for those who act on it: invoices, webhooks. Each consumer has its own place. */
export interface Outbox {
  /** Takes up to `limit` records for `ms` milliseconds, the oldest first; what is not done by then comes again. */
  take(consumer: string, limit: number, ms: number): Promise<OutboxRecord[]>
  /** These records are done, for this consumer. */
  done(consumer: string, ids: readonly string[]): Promise<void>
}

/**
 * Keeps sessions: turns are appended, never changed. Every operation is atomic, and names its tenant. Implementations pass
 * `storeConformance` of `@allium/testing`.
 *
 * @throws AlliumError `store.unavailable`, `store.corrupt`, `store.full`, `store.readonly`, `store.key`
 */
export interface SessionStore {
  /**
   * @param options.version as it was after so many turns; undefined where there were fewer, or none
   * @default after the last, with the run that goes on
   */
  load(key: SessionKey, options?: { version?: number }): Promise<StoredSession | undefined>
  /** Takes the session for `ms` milliseconds of the store's clock, or tells how long somebody else has it. */
  acquire(key: SessionKey, ms: number): Promise<Acquired>
  /** Gives it `ms` more from now on, also where it had run out and nobody took it; false where it was lost. */
  renew(lease: Lease, ms: number): Promise<boolean>
  release(lease: Lease): Promise<void>
  /**
   * Keeps a run that goes on, in the place of the one that was kept before; no version is raised.
   *
   * @throws AlliumError `store.fenced`, `store.conflict` as `append` does; `store.conflict` for a run that has ended, too
   */
  checkpoint(lease: Lease, version: number, turn: StoredTurn): Promise<void>
  /**
   * Appends a run that has ended; its checkpoint is gone then, and its records are in the outbox. The same run again changes
   * nothing, also after the lease was lost.
   *
   * @param version turns that were appended so far, as the caller knows it
   * @param options.release gives the lease back with it
   * @throws AlliumError `store.fenced` where the lease was lost; `store.conflict` where more or fewer turns were appended,
   * where `from` is beyond the end of the history, or where another run stands under its id
   */
  append(lease: Lease, version: number, turn: StoredTurn, options?: { release?: boolean }): Promise<void>
  /** A run of the session, the one that goes on among them; with `version` the one whose append made that version. */
  find(key: SessionKey, by: FindBy): Promise<StoredTurn | undefined>
  /**
   * Sessions of a tenant, or of one owner in it, those that were changed last first.
   *
   * @param of.agents the `agent` of the keys that are listed @default all
   */
  list(of: {
    tenant: string
    owner?: string
    agents?: readonly string[]
    cursor?: string
    limit: number
  }): Promise<Page<SessionSummary>>
  /** Calls of a tenant, of one owner or in the sessions of some agents in it, that wait for a decision, the oldest first. */
  waiting(of: {
    tenant: string
    owner?: string
    agents?: readonly string[]
    cursor?: string
    limit: number
  }): Promise<Page<StoredPendingCall>>
  /** The waiting call of a token, of a tenant or in the sessions of some agents in it. */
  findWaiting(of: { tenant: string; agents?: readonly string[]; token: string }): Promise<StoredPendingCall | undefined>
  /**
   * Moves a session to `key` that is kept under another name of its agent, with everything that is kept beside it. Does nothing
   * if there is a session under `key`.
   *
   * @param names the other names. The first one under which there is a session with this tenant, owner and id counts
   * @param options.lease the caller's lease of that session. It remains valid, under `key`
   * @returns whether a session was moved
   * @throws AlliumError `session.busy` with `details.heldUntil` while another process holds that session
   */
  adopt(key: SessionKey, names: readonly string[], options?: { lease?: Lease }): Promise<boolean>
  /** Forgets a session, with its lease: who had it can store nothing more. Deleting one that is not there does nothing. */
  delete(key: SessionKey): Promise<void>
  /**
   * Forgets everything of a tenant, or of one owner in it, of every agent; tells how many sessions there were. Runs that go on store
   * nothing any more: what they bring is refused with `store.fenced`. A run that begins later is stored as ever. What was spent stays, and
   * usage totals do, without a name.
   */
  erase(of: { tenant: string; owner?: string }): Promise<number>
  /**
   * Forgets sessions of all tenants whose last turn is older, in milliseconds by the store's clock; tells how many. Those that
   * somebody has stay, and those with a call that waits until its `expiresAt`.
   */
  expire(of: { olderThan: number }): Promise<number>
  readonly outbox: Outbox
}

/** A run that begins, for who stores it. */
export interface BeginningRun {
  /** Its id, once the session stands where the store does. */
  readonly turnId: string
  /** Its id was given: it may have run before, to its end, and is answered as it ended then. */
  readonly given: boolean
  /** A journal keeps its steps: where its process was lost, it goes on, and is not marked as interrupted. */
  readonly replays: boolean
  /** The right under which that journal records, and in which the run is stored. */
  readonly lease?: Lease | undefined
  /** The session runs under this key; with the digest of its input. */
  readonly idempotencyKey: string | undefined
  readonly inputDigest: string | undefined
  /**
   * Aborts when the run is aborted while it begins. A keeper then releases what it took, now or when it comes, and its `begin` rejects.
   */
  readonly signal: AbortSignal
  /** Ends the run, for a keeper that learns that it can store it no more. */
  abort(reason: unknown): void
}

/** Who stores a session: a layer gives one to `ctx.keep()` while its session opens. */
export interface SessionKeeper {
  /**
   * Before each run: may restore what another process has appended. What it throws refuses the run. Where it gives a stored
   * run, that is the answer: no layer and no model is asked.
   */
  begin?(run: BeginningRun): void | StoredTurn | undefined | Promise<void | StoredTurn | undefined>
  /**
   * While the run goes on: when its input stands in the history, before a resumed call runs, and after each step that is not
   * the last. The run waits for it, and fails with what it throws.
   */
  step?(turn: StoredTurn): void | Promise<void>
  /**
   * When a run has ended and its history and state are final; without a turn, where the run was refused or answered after
   * `begin`. The run waits for it, and fails with what it throws.
   */
  end?(turn: StoredTurn | undefined): void | Promise<void>
  /** A run that it has stored, by its id: to go back to where it ended. */
  find?(turnId: string): StoredTurn | undefined | Promise<StoredTurn | undefined>
}
