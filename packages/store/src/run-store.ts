import type { Lease, SessionKey } from '@allium/core'
import type { Page } from './session-store.ts'
/** The status of a durable run: queued, running, or how it ended. */
export type DurableStatus =
  | 'queued'
  | 'running'
  | 'completed'
  | 'stopped'
  | 'suspended'
  | 'blocked'
  | 'aborted'
  | 'failed'

/** The status of a run that has ended. */
export type EndedStatus = Exclude<DurableStatus, 'queued' | 'running'>

/** A run that outlives its process. Its id is that of its turn. */
export interface DurableRun {
  readonly run: string
  readonly key: SessionKey
  /** Name and version of the agent that runs it. The version is `''` if the agent has none. No other agent or version runs it. */
  readonly agent: string
  readonly version: string
  /** Its input, as a value that `toJson` takes; undefined once it has ended and cannot run again. */
  readonly task: unknown
  readonly status: DurableStatus
  /** Milliseconds since the epoch, by the store's clock. It does not run before that time. */
  readonly runAt: number
  /** How often it was started since its last recorded step. */
  readonly attempts: number
  /** The reason of the stop request. */
  readonly stop?: string
  /** Why it was given up, or the error code of its turn. */
  readonly code?: string
  readonly reason?: string
}

/** A new run, for `add()`. */
export interface NewDurableRun {
  readonly run: string
  readonly key: SessionKey
  readonly agent: string
  readonly version: string
  readonly task: unknown
  /** @default now */
  readonly runAt?: number | undefined
  readonly idempotencyKey?: string | undefined
  /** The request that the idempotency key belongs to, as text. */
  readonly fingerprint?: string | undefined
  /** The calls that it decides. They must be pending in the session, and are no longer pending once the run is added. */
  readonly resolvedCalls?: readonly string[] | undefined
}

/** The added run, or the existing one with the same idempotency key. */
export interface AddedRun {
  readonly run: DurableRun
  readonly isNew: boolean
  /** The lease to run it now, if it was claimed. */
  readonly lease?: Lease
}

/** A run that this process has claimed. */
export interface ClaimedRun {
  readonly run: DurableRun
  readonly lease: Lease
}

/** An agent whose runs a process can run. */
export interface RunningAgent {
  readonly name: string
  readonly version: string
}

/** A recorded step of a run. */
export interface RecordedStep {
  readonly id: string
  /** Text, or another value that `toJson` takes. The store returns it unchanged, and may store its bytes as blobs. */
  readonly body: unknown
}

/** Calls of a durable run that were not decided in time. */
export interface ExpiredCalls {
  readonly run: DurableRun
  readonly callIds: readonly string[]
}

/**
 * Stores runs and their steps in the same store as the sessions. A run and its session share one lease. Once a run has begun, the
 * session belongs to it until it ends: `SessionStore.acquire` gives no other lease, even if the run's lease has expired. An
 * `append` of its turn ends the run and deletes its steps. Every operation is atomic. Implementations pass
 * `runStoreConformance` of `@allium/testing`.
 *
 * @throws AlliumError `store.unavailable`, `store.corrupt`, `store.full`, `store.readonly`, `store.key`
 */
export interface RunStore {
  /** Whether tasks and steps are sealed. */
  readonly sealed: boolean
  /**
   * @param options.claim claims the run at once for this many milliseconds, if it is due and its session is free
   * @param options.unlessBusy does not add the run if the session is in use. If it belongs to a run that no process is running,
   * `details.heldUntil` is this many milliseconds from now
   * @throws AlliumError `approval.used` if a call that it decides is not pending, `run.key_reused` if its key belongs to another
   * request, `session.busy` with `details.heldUntil`. Then nothing is added
   */
  add(run: NewDurableRun, options?: { claim?: number; unlessBusy?: number }): Promise<AddedRun>
  get(of: { tenant: string; run: string }): Promise<DurableRun | undefined>
  /** Returns the run of a session with this idempotency key. */
  find(key: SessionKey, idempotencyKey: string): Promise<DurableRun | undefined>
  /**
   * Lists the runs of a tenant, or of one owner in it, newest first.
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
   * Claims runs for `ms` milliseconds: due runs whose session is free, and runs whose process was lost. It also claims runs that
   * ended at least `ms` ago and for which `markReported()` was not called.
   *
   * @param of.alone whether this process runs nothing else. Only then it claims a run that was started twice without a new step, and
   * no other run with it
   */
  claim(of: { agents: readonly RunningAgent[]; limit: number; ms: number; alone: boolean }): Promise<ClaimedRun[]>
  /** Extends each lease to `ms` from now. False for a lease that was lost. */
  renew(leases: readonly Lease[], ms: number): Promise<boolean[]>
  steps(lease: Lease, run: string): Promise<RecordedStep[]>
  /** Records a step under a valid lease. @throws AlliumError `store.fenced` */
  record(lease: Lease, run: string, step: RecordedStep): Promise<void>
  /** Requests a stop: the run ends at its next step, in whichever process. Returns false if it has ended. */
  stop(of: { tenant: string; run: string }, reason: string): Promise<boolean>
  /**
   * Ends a claimed run without a turn and keeps its steps. The session becomes free, and the lease can no longer write to it.
   *
   * @throws AlliumError `store.fenced`
   */
  giveUp(lease: Lease, run: string, why: { status: 'failed' | 'aborted'; code: string; reason: string }): Promise<void>
  /** Queues a run again that was given up, if its session has not changed since. Returns false otherwise. */
  retry(of: { tenant: string; run: string }): Promise<boolean>
  /** Marks that the run's readers know how it ended. Does nothing if the run was claimed or queued again since the lease. */
  markReported(lease: Lease, run: string): Promise<void>
  /** Claims runs of other agent versions that were idle for `ms` milliseconds, to fail them. The claim lasts `lease` milliseconds. */
  orphans(of: { agents: readonly RunningAgent[]; ms: number; lease: number; limit: number }): Promise<ClaimedRun[]>
  /** Returns pending calls after their `expiresAt`, of runs of these agents in any version. Skips runs whose task cannot be read. */
  expiredCalls(of: { agents: readonly RunningAgent[]; limit: number }): Promise<ExpiredCalls[]>
  /**
   * Deletes runs that ended more than `olderThan` milliseconds ago, except those with a pending call. Returns how many it deleted, by
   * status. A store may delete only some of them in one call.
   *
   * @param of.olderThan milliseconds for all statuses, or for each status. It deletes no run of a status without a number
   */
  expire(of: {
    olderThan: number | Readonly<Partial<Record<EndedStatus, number>>>
  }): Promise<Readonly<Partial<Record<EndedStatus, number>>>>
}
