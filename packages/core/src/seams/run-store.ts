import type { Lease, Page, SessionKey } from './session-store.ts'

/** How a durable run stands: it waits to be run, it is run, or it has ended so. */
export type DurableStatus =
  | 'queued'
  | 'running'
  | 'completed'
  | 'stopped'
  | 'suspended'
  | 'blocked'
  | 'aborted'
  | 'failed'

/** A run that outlives its process. Its id is that of its turn. */
export interface DurableRun {
  readonly run: string
  readonly key: SessionKey
  /** The name of the agent that runs it, and the agent's version, `''` where it has none: another one does not. */
  readonly agent: string
  readonly version: string
  /** What it is asked, as `toJson` takes it; undefined once it has ended, and cannot be run again. */
  readonly task: unknown
  readonly status: DurableStatus
  /** Milliseconds since the epoch, by the store's clock: it is not run before. */
  readonly runAt: number
  /** How often it was begun since a step of it was recorded last. */
  readonly attempts: number
  /** Why it was asked to stop. */
  readonly stop?: string
  /** Why it was given up, or with which code its turn ended. */
  readonly code?: string
  readonly reason?: string
}

/** A run as it is added. */
export interface NewDurableRun {
  readonly run: string
  readonly key: SessionKey
  readonly agent: string
  readonly version: string
  readonly task: unknown
  /** @default now */
  readonly runAt?: number | undefined
  readonly idempotencyKey?: string | undefined
  /** What the idempotency key stands for, as text. */
  readonly asked?: string | undefined
  /** The calls that it decides: each waits in the session, and waits no more once the run is added. */
  readonly decides?: readonly string[] | undefined
}

/** A run that was added, or the one that stood there before under its idempotency key. */
export interface AddedRun {
  readonly run: DurableRun
  readonly isNew: boolean
  /** The right to run it now. */
  readonly lease?: Lease
}

/** A run to be run here. */
export interface ClaimedRun {
  readonly run: DurableRun
  readonly lease: Lease
}

/** An agent whose runs a process can run. */
export interface RunningAgent {
  readonly name: string
  readonly version: string
}

/** A step of a run, as a journal keeps it. */
export interface RecordedStep {
  readonly id: string
  /** A text or another value that `toJson` takes. A store gives it back as it was, and may store its bytes as blobs. */
  readonly body: unknown
}

/** Calls of a durable run that nobody has decided in time. */
export interface ExpiredCalls {
  readonly run: DurableRun
  readonly callIds: readonly string[]
}

/**
 * Keeps runs and their steps, beside the sessions of the same store: run and session share one lease. A session whose run has begun
 * belongs to it until it ends: `SessionStore.acquire` gives nobody else a lease, though that of the run has lapsed, and an
 * `append` of its turn ends it, and forgets its steps. Every operation is atomic. Implementations pass `runStoreConformance` of
 * `@allium/testing`.
 *
 * @throws AlliumError `store.unavailable`, `store.corrupt`, `store.full`, `store.readonly`, `store.key`
 */
export interface RunStore {
  /** Whether tasks and steps are sealed. */
  readonly sealed: boolean
  /**
   * @param options.claim milliseconds for which it is taken at once, where its time has come and the session is free
   * @param options.unlessBusy milliseconds: where somebody has the session it is not added; what belongs to a run that nobody runs is held for
   * as long
   * @throws AlliumError `approval.used` where a call that it decides does not wait, `run.key_reused` where its key stands for something else,
   * `session.busy` with `details.heldUntil`; nothing is added
   */
  add(run: NewDurableRun, options?: { claim?: number; unlessBusy?: number }): Promise<AddedRun>
  get(of: { tenant: string; run: string }): Promise<DurableRun | undefined>
  /** The run of a session that an idempotency key stands for. */
  find(key: SessionKey, idempotencyKey: string): Promise<DurableRun | undefined>
  /**
   * Runs of a tenant, or of one owner in it, the newest first.
   *
   * @param of.agents the names of the agents whose runs are listed @default all
   */
  list(of: {
    tenant: string
    owner?: string
    agents?: readonly string[]
    status?: DurableStatus
    cursor?: string
    limit: number
  }): Promise<Page<Omit<DurableRun, 'task'>>>
  /**
   * Takes runs whose time has come and whose session is free, and those whose process was lost, for `ms` milliseconds. So it takes
   * runs that have ended at least `ms` ago and whose end nobody was told.
   *
   * @param of.alone nothing else runs here: a run that was begun twice without a new step is taken then alone, and is the only one
   */
  claim(of: { agents: readonly RunningAgent[]; limit: number; ms: number; alone: boolean }): Promise<ClaimedRun[]>
  /** Gives each lease `ms` more from now on; false where it was lost. */
  renew(leases: readonly Lease[], ms: number): Promise<boolean[]>
  steps(lease: Lease, run: string): Promise<RecordedStep[]>
  /** Records a step, while the lease holds. @throws AlliumError `store.fenced` */
  record(lease: Lease, run: string, step: RecordedStep): Promise<void>
  /** Asks a run to stop: it ends at its next step, whoever runs it. False where it has ended. */
  stop(of: { tenant: string; run: string }, reason: string): Promise<boolean>
  /**
   * Ends a run that was claimed without a turn, with its steps kept: the session is free, and nobody writes to it by the lease.
   *
   * @throws AlliumError `store.fenced`
   */
  giveUp(lease: Lease, run: string, why: { status: 'failed' | 'aborted'; code: string; reason: string }): Promise<void>
  /** A run that was given up is run again, where the session stands as it stood. False where it was not given up, or that has gone on. */
  retry(of: { tenant: string; run: string }): Promise<boolean>
  /** Its readers know how it ended. */
  told(lease: Lease, run: string): Promise<void>
  /** Takes runs of other versions of the agents that nobody has run for `ms` milliseconds, to fail them, for `lease` milliseconds. */
  orphans(of: { agents: readonly RunningAgent[]; ms: number; lease: number; limit: number }): Promise<ClaimedRun[]>
  /** Calls that wait beyond their `expiresAt`, of runs of these agents. */
  expired(of: { agents: readonly RunningAgent[]; limit: number }): Promise<ExpiredCalls[]>
  /** Forgets runs that ended so many milliseconds ago, but for those of which a call waits; tells how many. */
  expire(of: { olderThan: number }): Promise<number>
}
