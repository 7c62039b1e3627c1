import type { AlliumError, Lease, SessionKey } from '@allium/core'
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
  /** Name and version of the agent that runs it. No other agent or version runs it. */
  readonly agent: string
  readonly version: string
  /** Its input, as a value that `toJson` takes; undefined once it has ended and cannot run again. */
  readonly task: unknown
  readonly status: DurableStatus
  readonly queue: string
  /** A smaller number starts earlier. */
  readonly priority: number
  /** Milliseconds since the epoch, by the store's clock. It does not run before that time. */
  readonly runAt: number
  /** How often it was started since its last recorded step. */
  readonly attempts: number
  /** The reason of the stop request. */
  readonly stop?: string
  /** Why it was given up, or the error code of its turn. */
  readonly code?: string
  readonly reason?: string
  /** The digest of the shape that it was added with. */
  readonly shape?: string
  /** The error for a task that can never be read, because its key is gone or it is damaged. Then `task` is undefined. */
  readonly unreadable?: AlliumError
}

/** The structure of the code that a run is started with, as text. Runs of the same code share it. */
export interface RunShape {
  readonly digest: string
  /** Needed unless another run has the shape. */
  readonly body?: string | undefined
}

/** A new run, for `add()`. */
export interface NewDurableRun {
  readonly run: string
  readonly key: SessionKey
  readonly agent: string
  readonly version: string
  readonly task: unknown
  /** Stored once for all runs. It is not sealed. A store keeps at least the latest 1,000. */
  readonly shape?: RunShape | undefined
  /** Its first step, which is recorded with it if it is claimed. It has no bytes. */
  readonly firstStep?: RecordedStep | undefined
  /** @default 'default' */
  readonly queue?: string | undefined
  /** A smaller number starts earlier. Each step counts as one minute of waiting. @default 0 */
  readonly priority?: number | undefined
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

export interface AddOptions {
  readonly claim?: number | undefined
  /** The name of the process that claims it, for operators. @default none */
  readonly worker?: string | undefined
  readonly limits?: QueueLimits | undefined
  /** The names of the agents whose runs count towards the limits. @default the agent of the run */
  readonly agents?: readonly string[] | undefined
  readonly unlessBusy?: number | undefined
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

/** The limits of a queue, over all processes. A queue belongs to the agents in the query. */
export interface QueueLimits {
  /** Most runs of the queue that run at once. @default no limit */
  readonly concurrency?: number | undefined
  /** Most runs of each tenant that run at once. @default no limit */
  readonly perTenant?: number | undefined
  /** Most runs that start within any `period`. @default no limit */
  readonly rateLimit?: QueueRateLimit | undefined
}

export interface QueueRateLimit {
  /** Most starts of the queue within the period. */
  readonly limit: number
  /** Milliseconds. */
  readonly period: number
  /** Most starts of each tenant within the period. @default no limit */
  readonly perTenant?: number | undefined
}

/** A queue from which a process claims waiting runs. */
export interface ClaimQueue extends QueueLimits {
  readonly name: string
  /** Most runs of the queue that this process starts now. @default as many as the limits allow */
  readonly places?: number | undefined
}

/** Which runs a process can claim. */
export interface ClaimQuery {
  readonly agents: readonly RunningAgent[]
  readonly limit: number
  /** Duration of the leases in milliseconds. */
  readonly ms: number
  /**
   * Whether this process runs nothing else. Only then it claims a run that was started twice without a new step, and no other run with it.
   */
  readonly alone: boolean
  /** The queues whose waiting runs are claimed. @default the queue `default`, without limits */
  readonly queues?: readonly ClaimQueue[] | undefined
  /** Whether to claim only waiting runs, which is cheaper: no lost runs and no unreported ends. @default false */
  readonly waitingOnly?: boolean | undefined
  /** The name of this process, for operators. @default none */
  readonly worker?: string | undefined
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
   * @param options.claim claims the run at once for this many milliseconds, if it is due, its session is free, the limits of its queue allow it, and no
   * other run of its queue could start
   * @param options.limits the limits of its queue @default none
   * @param options.unlessBusy does not add the run if the session is in use. If it belongs to a run that no process is running,
   * `details.heldUntil` is this many milliseconds from now
   * @throws AlliumError `approval.used` if a call that it decides is not pending, `run.key_reused` if its key belongs to another
   * request, `session.busy` with `details.heldUntil`. Then nothing is added
   */
  add(run: NewDurableRun, options?: AddOptions): Promise<AddedRun>
  get(of: { tenant: string; run: string }): Promise<DurableRun | undefined>
  /** Returns the text of a shape. */
  shape(digest: string): Promise<string | undefined>
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
    /** The code that it failed with. */
    code?: string
    cursor?: string
    limit: number
  }): Promise<Page<Omit<DurableRun, 'task'>>>
  /**
   * Claims runs for `ms` milliseconds. First come runs whose process was lost, and runs that ended at least `ms` ago and for which
   * `markReported()` was not called. A lost run keeps its place in its queue, so the limits do not apply to it. Then come due runs whose
   * session is free, within the limits of their queue, even if several processes claim at once. Tenants take turns: next is the run with
   * the earliest `max(runAt, last claim of a waiting run of its tenant in the queue) + priority minutes`. Of one tenant, next is the run
   * with the earliest `runAt + priority minutes`. Runs whose task cannot be
   * read now are left as they were, and do not keep other runs from being claimed. A run whose task can never be read is returned as
   * `unreadable`, to be given up.
   *
   * @param of.alone whether this process runs nothing else. Only then it claims a run that was started twice without a new step, and
   * no other run with it
   */
  claim(of: ClaimQuery): Promise<ClaimedRun[]>
  /** Extends each lease to `ms` from now. False for a lease that was lost. */
  renew(leases: readonly Lease[], ms: number): Promise<boolean[]>
  steps(lease: Lease, run: string): Promise<RecordedStep[]>
  /** Records a step under a valid lease. @throws AlliumError `store.fenced` */
  record(lease: Lease, run: string, step: RecordedStep): Promise<void>
  /** Requests a stop: the run ends at its next step, in whichever process. Returns false if it has ended. */
  stop(of: { tenant: string; run: string }, reason: string): Promise<boolean>
  /** Returns a claimed run, so that another process continues it. Its claim does not count as an attempt. Does nothing after the lease was lost. */
  release(lease: Lease, run: string): Promise<void>
  /**
   * Ends a claimed run without a turn and keeps its steps. The session becomes free, and the lease can no longer write to it.
   *
   * @throws AlliumError `store.fenced`
   */
  giveUp(lease: Lease, run: string, why: { status: 'failed' | 'aborted'; code: string; reason: string }): Promise<void>
  /** Queues a run again that was given up, if its session has not changed since. Returns false otherwise. */
  retry(of: { tenant: string; run: string }): Promise<boolean>
  /**
   * Moves an active or given-up run from one version of its agent to another; a given-up run is queued again, as with `retry()`. Returns
   * false if the run has another version or has ended, if a process is executing it, or if `retry()` would return false.
   */
  migrate(of: { tenant: string; run: string }, versions: { from: string; to: string }): Promise<boolean>
  /**
   * Marks that the run's readers know how it ended. Does nothing if the run was claimed or queued again since the lease. The end of the run
   * in the event log of the same store also marks it.
   *
   * @param code why a failed run failed @default the code that it has
   */
  markReported(lease: Lease, run: string, code?: string): Promise<void>
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
