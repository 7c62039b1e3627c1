import { messageOf } from '@allium/core'
import type { AddedRun, AddOptions, ClaimedRun, DurableRun, EndedStatus, RunningAgent } from '@allium/store'
import type { Host } from '../host/host.ts'
import { LiveRun } from '../run/live-run.ts'
import { isUnreadable } from '../run/run-errors.ts'

/** A run that started this often without a new step is suspected of crashing its process. */
const suspectAttempts = 3
/** Leases after which a process that is never idle starts a suspected run together with its other runs. */
const maxSuspectWait = 6
/** Most runs claimed per query. */
const batchSize = 100
/** Most orphans and most overdue calls per query. */
const maxOld = 50

/** Collects the error of a part, so that the other parts are done. */
type Attempt = <T>(work: Promise<T>) => Promise<T | undefined>

/** Whether a query also looks for lost runs, unreported ends and other old work. */
type Scope = 'waiting' | 'all'

/** The runs that this process executes. Claims queued and lost runs, and renews their leases. */
export class Worker {
  readonly #host: Host
  readonly #live = new Map<string, LiveRun>()
  #polling: Promise<number> | undefined
  /** What to claim when the current query is over. */
  #pollNext: Scope | undefined
  #timers: (() => void)[] = []
  /** The suspected run that is running here and has not recorded a step. */
  #suspect: LiveRun | undefined
  /** Until then, nothing starts in addition to the suspected run. */
  #isolatedUntil = 0
  /** When this process last looked for a suspected run while it was idle. */
  #lookedAloneAt: number
  #draining = false
  /** Places of runs that are being claimed. */
  #reserved = 0
  /** Those of runs that are being added, by queue. */
  readonly #adding = new Map<string, number>()
  /** Due runs that this process could not claim, because it had no place or their session was in use. Others may have claimed them since. */
  #backlog = 0

  constructor(host: Host) {
    this.#host = host
    const { lease } = host
    this.#lookedAloneAt = host.clock.monotonic()
    // A lost run is claimed at most 1.25 leases after its last renewal.
    this.#every(lease / 4, () => this.#look())
    this.#every(lease / 3, () => this.#renew())
  }

  /** Returns a run that this process executes. Its status may have changed since it was claimed. */
  find(run: string): DurableRun | undefined {
    return this.#live.get(run)?.claimed.run
  }

  get draining(): boolean {
    return this.#draining
  }
  get #isIsolated(): boolean {
    return this.#isolatedUntil > this.#host.clock.monotonic()
  }
  /** Runs that may start here now. */
  get #free(): number {
    if (this.#draining || this.#isIsolated) return 0
    return Math.max(0, this.#host.concurrency - this.#live.size - this.#reserved)
  }

  /** Adds a run, and starts it if it was claimed. @param add gets the options of the claim, which are empty without room here */
  async startNew(queue: string, add: (claim: AddOptions) => Promise<AddedRun>): Promise<AddedRun> {
    const { queues, names: agents, lease, worker } = this.#host
    const hasRoom = this.#free > 0 && queues.places(queue, this.#executing(queue)) > 0
    const places = hasRoom ? 1 : 0
    this.#reserve(queue, places)
    try {
      const added = await add(hasRoom ? { claim: lease, worker, limits: queues.limits(queue), agents } : {})
      if (added.lease === undefined) this.#queue(added)
      else await this.start({ run: added.run, lease: added.lease }, { isNew: true })
      return added
    } finally {
      this.#reserve(queue, -places)
    }
  }

  #reserve(queue: string, places: number): void {
    this.#reserved += places
    this.#adding.set(queue, (this.#adding.get(queue) ?? 0) + places)
  }

  /** Returns how many runs of a queue this process executes. */
  #executing(queue: string): number {
    const live = [...this.#live.values()].filter(({ claimed }) => claimed.run.queue === queue)
    return live.length + (this.#adding.get(queue) ?? 0)
  }

  /**
   * Starts a run. Opens its log before it resolves, so that readers wait for events.
   *
   * @param options.isNew the run was requested just now, so its principal is current
   */
  async start(claimedRun: ClaimedRun, { isNew = false } = {}): Promise<void> {
    const claimed = await this.#withCurrentName(claimedRun)
    const { run, lease } = claimed
    const { tenant, owner } = run.key
    const by = { tenant, owner, since: this.#host.clock.now(), lease }
    await this.#host.events.append({ key: run.key, turnId: run.run }, lease.token, [], { by })
    const isSuspect = run.status === 'running' && run.attempts >= suspectAttempts
    if (isSuspect && this.#isIdle) this.#isolatedUntil = this.#host.clock.monotonic() + this.#host.lease
    // The earlier lease had expired, so its work in progress is lost, as it would be in another process.
    const previous = this.#live.get(run.run)
    previous?.loseLease('the run was started again')
    const live = new LiveRun(this.#host, claimed, { isNew, previous, onStep: () => this.#clear(live) })
    this.#live.set(run.run, live)
    if (isSuspect) this.#suspect = live
    this.#pollAfterWindow(run.queue)
    void live.done.finally(() => {
      const mayFollow = this.#backlog > 0 || this.#free === 0 || this.#host.queues.isLimited(run.queue)
      if (this.#live.get(run.run) === live) this.#live.delete(run.run)
      this.#clear(live)
      if (mayFollow) this.poll('waiting').catch(() => {})
    })
  }

  /** Claims again when the start of a run no longer counts towards the rate limit of its queue. */
  #pollAfterWindow(queue: string): void {
    const { clock, options } = this.#host
    const { rateLimit } = options.queues?.[queue] ?? {}
    if (rateLimit === undefined) return
    const poll = () => void this.poll('waiting').catch(() => {})
    clock.after(rateLimit.period, poll, { idle: true })
  }

  get #isIdle(): boolean {
    return this.#live.size === 0
  }

  /** Ends the isolation of a suspected run that has recorded a step or ended. There may be others. */
  #clear(live: LiveRun): void {
    if (this.#suspect !== live) return
    this.#suspect = undefined
    this.#isolatedUntil = 0
    this.poll().catch(() => {})
  }

  /** Moves a run that began under a former name of its agent to the current name, with its session. */
  async #withCurrentName(claimed: ClaimedRun): Promise<ClaimedRun> {
    const { run, lease } = claimed
    const { sessionNames } = this.#host.agent
    const [agent = run.key.agent] = sessionNames
    if (agent === run.key.agent) return claimed
    const key = { ...run.key, agent }
    if (!(await this.#host.sessions.rename(key, [run.key.agent], { lease }))) return claimed
    return { run: { ...run, key }, lease: { ...lease, key } }
  }

  /** Counts a run that was not claimed. Its session may have become free since. */
  #queue({ run, isNew }: AddedRun): void {
    if (!isNew || run.runAt > this.#host.clock.now()) return
    this.#backlog++
    this.poll('waiting').catch(() => {})
  }

  async #look(): Promise<void> {
    if ((await this.poll()) === 0 && this.#free > 0) this.#backlog = 0
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
      if (next !== undefined && !this.#draining) this.poll(next).catch(() => {})
    })
    return this.#polling
  }

  async drain(timeout?: number): Promise<void> {
    this.#draining = true
    const { clock, lease } = this.#host
    await this.#polling?.catch(() => {})
    const disarm = clock.after(lease, () => {
      for (const live of this.#live.values()) live.handOver('the process stops')
    })
    const disarmTimeout =
      timeout === undefined
        ? () => {}
        : clock.after(timeout, () => {
            for (const live of this.#live.values()) live.abandon('the process stops')
          })
    await Promise.all([...this.#live.values()].map(({ done }) => done))
    disarm()
    disarmTimeout()
    for (const one of this.#timers) one()
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
    this.#reserved += limit
    const claimed = (await attempt(this.#claimRuns(limit, waitingOnly))) ?? []
    await Promise.all(claimed.map((one) => attempt(this.#startOrGiveUp(one))))
    this.#reserved -= limit
    return { count: claimed.length, isFull: claimed.length >= limit }
  }

  /** Claims a suspected run only if nothing else is due. It waits for an idle process, but not forever. */
  async #claimRuns(limit: number, waitingOnly: boolean): Promise<ClaimedRun[]> {
    const { runs, queues, lease, worker, clock } = this.#host
    const claimable = queues.toClaim((queue) => this.#executing(queue))
    const query = { agents: this.#agents, ms: lease, worker, waitingOnly, queues: claimable }
    const claimed = await runs.claim({ ...query, limit, alone: false })
    this.#backlog = Math.max(claimed.length === limit ? 1 : 0, this.#backlog - claimed.length)
    if (waitingOnly) return claimed
    const isIdle = this.#isIdle && claimed.length === 0
    const hasWaited = clock.monotonic() - this.#lookedAloneAt > maxSuspectWait * lease && claimed.length < limit
    if (isIdle) this.#lookedAloneAt = clock.monotonic()
    if (this.#suspect === undefined && (isIdle || hasWaited))
      claimed.push(...(await runs.claim({ ...query, limit: 1, alone: true })))
    return claimed
  }

  /** Fails runs of lost versions and denies overdue calls. Returns how many runs it claimed. */
  async #finishOld(attempt: Attempt): Promise<number> {
    const { runs, lease, options, retention, expire, report } = this.#host
    const { orphanAfter = 600_000 } = options
    const agents = this.#agents
    const orphans = (await attempt(runs.orphans({ agents, ms: orphanAfter, lease, limit: maxOld }))) ?? []
    await Promise.all(orphans.map((one) => attempt(this.#startOrGiveUp(one))))
    for (const expired of (await attempt(runs.expiredCalls({ agents, limit: maxOld }))) ?? [])
      await attempt(expire(expired))
    const deleted = (await attempt(runs.expire({ olderThan: retention }))) ?? {}
    for (const [status, count] of Object.entries(deleted))
      report({ type: 'expire', status: status as EndedStatus, count })
    return orphans.length
  }

  get #agents(): RunningAgent[] {
    const { names, versions } = this.#host
    return names.flatMap((name) => versions.map((version) => ({ name, version })))
  }

  /** Starts a run. If that can never succeed, gives the run up, so that it is not claimed again and again. */
  async #startOrGiveUp(claimed: ClaimedRun): Promise<void> {
    try {
      await this.start(claimed)
    } catch (error) {
      const { run, lease } = claimed
      const { attempts, runs, publicError } = this.#host
      if (run.status === 'running' && (isUnreadable(error) || run.attempts > attempts)) {
        const { code, message } = publicError(error)
        await runs.giveUp(lease, run.run, { status: 'failed', code, reason: message })
      }
      throw error
    }
  }

  async #runPollHooks(): Promise<void> {
    for (const hook of this.#host.pollHooks)
      try {
        if (await hook()) this.#pollNext = 'all'
      } catch (error) {
        this.#warn(error)
      }
  }

  async #renew(): Promise<void> {
    const live = [...this.#live.values()]
    if (live.length === 0) return
    for (const one of live) one.checkLease()
    const until = this.#host.clock.monotonic() + this.#host.lease
    const leases = live.map(({ claimed }) => claimed.lease)
    const renewed = await this.#host.runs.renew(leases, this.#host.lease).catch((error) => {
      for (const one of live) one.checkLease()
      throw error
    })
    for (const [i, one] of live.entries())
      if (renewed[i] === false) await one.notRenewed()
      else one.renewed(until)
  }

  #every(ms: number, work: () => unknown): void {
    const { clock } = this.#host
    let off = () => {}
    const arm = () => {
      off = clock.after(ms, async () => {
        arm()
        try {
          await work()
        } catch (error) {
          this.#warn(error)
        }
      })
    }
    arm()
    this.#timers.push(() => off())
  }

  #warn(error: unknown): void {
    this.#host.logger.warn(`The upkeep of durable runs failed: ${messageOf(error)} It will be retried.`, { error })
  }
}
