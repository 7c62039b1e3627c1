import { messageOf } from '@allium/core'
import type { AddedRun, AddOptions, ClaimedRun, DurableRun, EndedStatus, ExpiredCalls } from '@allium/store'
import type { Host } from '../host/host.ts'
import { LiveRun } from '../run/live-run.ts'
import { isUnreadable, publicError } from '../run/run-errors.ts'
import { RunReporter } from '../run/run-reporter.ts'
import { claimDue, claimOrphans, underCurrentName } from './claim-runs.ts'
import { Places } from './places.ts'
import { renewLeases } from './renew-leases.ts'

/** Most runs claimed per query. */
const batchSize = 100
/** Most overdue calls per query. */
const maxOverdue = 50

/** Collects the error of a part, so that the other parts are done. */
type Attempt = <T>(work: Promise<T>) => Promise<T | undefined>

/** Whether a query also looks for lost runs, unreported ends and other old work. */
type Scope = 'waiting' | 'all'

/** The runs that this process executes. Claims queued and lost runs, and renews their leases. */
export class Worker {
  readonly host: Host
  readonly #denyOverdue: (calls: ExpiredCalls) => Promise<void>
  readonly #places: Places
  #polling: Promise<number> | undefined
  /** What to claim when the current query is over. */
  #pollNext: Scope | undefined
  readonly #timers: (() => void)[] = []
  #draining = false

  /** @param options.denyOverdue denies calls that were not decided in time */
  constructor(host: Host, { denyOverdue }: { denyOverdue(calls: ExpiredCalls): Promise<void> }) {
    this.host = host
    this.#denyOverdue = denyOverdue
    this.#places = new Places(host)
    const { lease } = host
    // A lost run is claimed at most 1.25 leases after its last renewal.
    this.#every(lease / 4, () => this.#look())
    this.#every(lease / 3, () => renewLeases(host, this.#places.live))
  }

  /** Returns a run that this process executes. Its status may have changed since it was claimed. */
  find(run: string): DurableRun | undefined {
    return this.#places.find(run)?.state.claimed.run
  }

  /** Runs that may start here now. */
  get #free(): number {
    return this.#draining ? 0 : this.#places.free
  }

  /**
   * Adds a run, and starts it if it was claimed.
   *
   * @param of.began the time in its first step
   * @param add gets the options of the claim, which are empty without room here
   */
  startNew(
    { queue, began }: { queue: string; began: number },
    add: (claim: AddOptions) => Promise<AddedRun>,
  ): Promise<AddedRun> {
    const { queues, names, lease, worker } = this.host
    const hasRoom = this.#free > 0 && queues.places(queue, this.#places.executing(queue)) > 0
    const claim = { claim: lease, worker, limits: queues.limits(queue), agents: names }
    return this.#places.reserve(
      hasRoom ? 1 : 0,
      async () => {
        const added = await add(hasRoom ? claim : {})
        if (added.lease === undefined) this.#queue(added)
        else await this.#start({ run: added.run, lease: added.lease }, began)
        return added
      },
      queue,
    )
  }

  /**
   * Starts a run. Opens its log before it resolves, so that readers wait for events.
   *
   * @param began the time in the first step of a run that was requested just now, so its principal is current
   */
  async #start(claimedRun: ClaimedRun, began?: number): Promise<void> {
    const claimed = await underCurrentName(this.host, claimedRun)
    const { run } = claimed
    const reporter = new RunReporter(this.host, claimed)
    await reporter.open()
    // The earlier lease had expired, so its work in progress is lost, as it would be in another process.
    const previous = this.#places.find(run.run)
    previous?.state.loseLease('the run was started again')
    const live = new LiveRun(this.host, claimed, { began, previous, reporter })
    this.#places.add(live)
    this.#pollAfterWindow(run.queue)
    void live.state.progress.then(() => this.#clear(live))
    void live.done.finally(() => {
      const mayFollow =
        live.isFollowed || this.#places.backlog > 0 || this.#free === 0 || this.host.queues.isLimited(run.queue)
      this.#places.remove(live)
      this.#clear(live)
      if (mayFollow) this.pollSoon('waiting')
    })
  }

  /** Claims again when the start of a run no longer counts towards the rate limit of its queue. */
  #pollAfterWindow(queue: string): void {
    const { clock, queues } = this.host
    const period = queues.periodOf(queue)
    if (period !== undefined) clock.after(period, () => this.pollSoon('waiting'), { idle: true })
  }

  /** There may be other suspected runs. */
  #clear(live: LiveRun): void {
    if (this.#places.clear(live)) this.pollSoon()
  }

  /** Counts a run that was not claimed. Its session may have become free since. */
  #queue({ run, isNew }: AddedRun): void {
    if (!isNew || run.runAt > this.host.clock.now()) return
    this.#places.backlog++
    this.pollSoon('waiting')
  }

  async #look(): Promise<void> {
    if ((await this.poll()) === 0 && this.#free > 0) this.#places.backlog = 0
  }

  /** Claims the runs that this process may execute. Returns their number. */
  poll(scope: Scope = 'all'): Promise<number> {
    if (this.#polling !== undefined) {
      this.#pollNext = this.#pollNext === 'all' ? 'all' : scope
      return this.#polling
    }
    this.#polling = this.#poll(scope).finally(() => {
      this.#polling = undefined
      const next = this.#pollNext
      this.#pollNext = undefined
      if (next !== undefined && !this.#draining) this.pollSoon(next)
    })
    return this.#polling
  }

  /** Polls after something has changed. An error does not matter, because the process polls again. */
  pollSoon(scope?: Scope): void {
    this.poll(scope).catch(() => {})
  }

  async drain(timeout?: number): Promise<void> {
    this.#draining = true
    const { clock, lease } = this.host
    await this.#polling?.catch(() => {})
    const handOver = () => {
      for (const live of this.#places.live) live.handOver('the process stops')
    }
    const abandon = () => {
      for (const { state } of this.#places.live) state.abandon('the process stops')
    }
    this.#timers.push(clock.after(lease, handOver))
    if (timeout !== undefined) this.#timers.push(clock.after(timeout, abandon))
    await Promise.all(this.#places.live.map(({ done }) => done))
    for (const cancel of this.#timers) cancel()
  }

  /** Each part of the work is done even if another part fails, so that no run delays another. Throws the first error in the end. */
  async #poll(scope: Scope): Promise<number> {
    if (this.#draining) return 0
    const errors: unknown[] = []
    const attempt: Attempt = (work) => work.catch((error) => void errors.push(error))
    if (scope === 'all') await this.#runPollHooks()
    let claimed = 0
    // After an error, claiming more would only fail more runs.
    for (let more = true; more && errors.length === 0; ) {
      const { count, isFull } = await this.#claim(scope === 'waiting', attempt)
      claimed += count
      more = isFull
    }
    if (scope === 'all') claimed += await this.#finishOld(attempt)
    if (errors.length > 0) throw errors[0]
    return claimed
  }

  /** Claims and starts a batch of runs. `isFull` tells that more may be due. */
  async #claim(waitingOnly: boolean, attempt: Attempt): Promise<{ count: number; isFull: boolean }> {
    const limit = Math.min(batchSize, this.#free)
    if (limit === 0) return { count: 0, isFull: false }
    return this.#places.reserve(limit, async () => {
      const claimed = (await attempt(claimDue(this.host, this.#places, { limit, waitingOnly }))) ?? []
      await Promise.all(claimed.map((one) => attempt(this.#startOrGiveUp(one))))
      return { count: claimed.length, isFull: claimed.length >= limit }
    })
  }

  /** Fails runs of lost versions and denies overdue calls. Returns how many runs it claimed. */
  async #finishOld(attempt: Attempt): Promise<number> {
    const { runs, agents, retention, report } = this.host
    const orphans = (await attempt(claimOrphans(this.host))) ?? []
    await Promise.all(orphans.map((one) => attempt(this.#startOrGiveUp(one))))
    for (const expired of (await attempt(runs.expiredCalls({ agents, limit: maxOverdue }))) ?? [])
      await attempt(this.#denyOverdue(expired))
    const deleted = (await attempt(runs.expire({ olderThan: retention }))) ?? {}
    for (const [status, count] of Object.entries(deleted))
      report({ type: 'expire', status: status as EndedStatus, count })
    return orphans.length
  }

  /** Starts a run. If that can never succeed, gives the run up, so that it is not claimed again and again. */
  async #startOrGiveUp(claimed: ClaimedRun): Promise<void> {
    try {
      await this.#start(claimed)
    } catch (error) {
      const { run, lease } = claimed
      const { attempts, runs } = this.host
      if (run.status === 'running' && (isUnreadable(error) || run.attempts > attempts)) {
        const { code, message } = publicError(error)
        await runs.giveUp(lease, run.run, { status: 'failed', code, reason: message })
      }
      throw error
    }
  }

  async #runPollHooks(): Promise<void> {
    for (const hook of this.host.pollHooks)
      try {
        if (await hook()) this.#pollNext = 'all'
      } catch (error) {
        this.#warn(error)
      }
  }

  #every(ms: number, work: () => Promise<unknown>): void {
    const { clock } = this.host
    let off = () => {}
    const arm = () => {
      off = clock.after(ms, () => {
        arm()
        return work().catch((error) => this.#warn(error))
      })
    }
    arm()
    this.#timers.push(() => off())
  }

  #warn(error: unknown): void {
    this.host.logger.warn(`The upkeep of durable runs failed and will be retried: ${messageOf(error)}`, { error })
  }
}
