import type { AlliumError } from '@allium/core'
import type { ClaimedRun } from '@allium/store'
import type { Host } from '../host/host.ts'

/** What a run needs to hold its claim and to record its steps. */
export type JournalHost = Pick<Host, 'runs' | 'sessions' | 'clock' | 'lease'>

/** The moments at which a run has to act. Everything else is read from its state. */
export interface RunStateEvents {
  /** The turn ends: its layers unwind, and no further step starts. */
  onStop(): void
  /** The recorded steps cannot be replayed. Resolves when the run was given up. */
  onDiverged(error: AlliumError): Promise<void>
}

/**
 * Whether the steps of a claimed run may go on in this process. The worker renews its lease or takes it away, the run ends it, and the
 * journal reads it before and after each step.
 */
export class RunState {
  readonly claimed: ClaimedRun
  /** Resolves when this process has recorded a step of the run. */
  readonly progress: Promise<void>
  /** The turn has ended and its end will be reported: nothing replays its steps, so none needs a record. */
  hasEnded = false
  readonly #host: JournalHost
  readonly #events: RunStateEvents
  #stopReason: string | undefined
  #isLost = false
  #isFenced = false
  #isAbandoned = false
  /** The lease certainly holds until then, by the monotonic clock of this process. */
  #leaseExpiresAt: number
  #resolveProgress = () => {}

  constructor(host: JournalHost, claimed: ClaimedRun, events: RunStateEvents) {
    this.claimed = claimed
    this.#host = host
    this.#events = events
    this.#stopReason = claimed.run.stop
    this.#leaseExpiresAt = host.clock.monotonic() + host.lease
    this.progress = new Promise((resolve) => {
      this.#resolveProgress = resolve
    })
  }

  /** Why no further step starts; undefined while steps may start. */
  get stopReason(): string | undefined {
    return this.#stopReason
  }
  /** The run was given up here, or another process has it or will claim it. No further step starts here. */
  get isLost(): boolean {
    return this.#isLost
  }
  /** Not even the end of the turn may be stored. */
  get isFenced(): boolean {
    return this.#isFenced
  }

  /** Returns why no further step may start now, else undefined. Ends the turn if the run is lost. */
  check(): string | undefined {
    this.checkLease()
    if (this.#isLost) this.#endTurn()
    return this.#stopReason
  }
  /** Ends the turn if no further step may start. Returns why, else undefined. */
  endIfStopped(): string | undefined {
    this.checkLease()
    if (this.#stopReason !== undefined) this.#endTurn()
    return this.#stopReason
  }
  /** The recorded steps cannot be replayed. Resolves when the run was given up. */
  diverge(error: AlliumError): Promise<void> {
    return this.#events.onDiverged(error)
  }
  /** A step was recorded. */
  advance(): void {
    this.#resolveProgress()
  }

  renew(until: number): void {
    this.#leaseExpiresAt = until
  }
  /** If the store did not answer in time, or the process was suspended, another process may have claimed the run. */
  checkLease(): void {
    if (this.#leaseExpiresAt <= this.#host.clock.monotonic())
      this.loseLease('the lease of the run could not be renewed in time')
  }
  /** The lease is gone. The store rejects later writes. */
  loseLease(reason: string): void {
    if (this.#isFenced) return
    this.handOver(reason)
    this.#isFenced = true
    this.#events.onStop()
  }
  /** Another process continues the run from its next step. */
  handOver(reason: string): void {
    this.#isLost = true
    this.#stopReason ??= reason
  }
  /** Another process repeats the step in progress. This attempt does not count, because a deploy is no crash. */
  abandon(reason: string): void {
    this.#isAbandoned = true
    this.loseLease(reason)
  }
  /** The run was stopped. The next step that is not recorded ends it. */
  stop(reason: string): void {
    this.#stopReason = reason
  }
  /** The store has the final status of the run, and no lease anymore. */
  giveUp(reason: string): void {
    this.#isLost = true
    this.#isFenced = true
    this.#stopReason = reason
  }

  /** If the run is lost, another process may continue it at once. */
  #endTurn(): void {
    this.#isFenced ||= this.#isLost
    if (this.#isLost) void this.release()
    this.#events.onStop()
  }

  /** Returns the lease to the store, so that another process may claim the run or the session. */
  async release(): Promise<void> {
    const { sessions, runs } = this.#host
    const { lease, run } = this.claimed
    await (this.#isAbandoned ? runs.release(lease, run.run) : sessions.release(lease)).catch(() => {})
  }
}
