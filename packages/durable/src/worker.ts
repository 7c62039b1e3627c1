import { messageOf } from '@allium/core'
import type { AddedRun, ClaimedRun, RunningAgent } from '@allium/store'
import type { Host } from './host.ts'
import { isUnreadable, LiveRun } from './live-run.ts'

/** A run that started this often without a new step is suspected of crashing its process. */
const suspectAttempts = 3
/** Leases after which a process that is never idle starts a suspected run together with its other runs. */
const maxSuspectWait = 6
/** Most runs claimed per query. */
const batchSize = 50

/** The runs that this process executes. Claims queued and lost runs, and renews their leases. */
export class Worker {
  readonly #host: Host
  readonly #live = new Map<string, LiveRun>()
  #polling: Promise<number> | undefined
  #pollAgain = false
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

  /** Adds a run, and starts it if it was claimed. @param add gets the milliseconds for which to claim it, or undefined */
  async startNew(add: (claim: number | undefined) => Promise<AddedRun>): Promise<AddedRun> {
    const places = Math.min(1, this.#free)
    this.#reserved += places
    try {
      const added = await add(places === 0 ? undefined : this.#host.lease)
      if (added.lease === undefined) this.#queue(added)
      else await this.start({ run: added.run, lease: added.lease }, { isNew: true })
      return added
    } finally {
      this.#reserved -= places
    }
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
    previous?.loseLease('the run was begun again')
    const live = new LiveRun(this.#host, claimed, { isNew, previous, onStep: () => this.#clear(live) })
    this.#live.set(run.run, live)
    if (isSuspect) this.#suspect = live
    void live.done.finally(() => {
      if (this.#live.get(run.run) === live) this.#live.delete(run.run)
      this.#clear(live)
      if (this.#backlog > 0) this.poll().catch(() => {})
    })
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
    this.poll().catch(() => {})
  }

  async #look(): Promise<void> {
    if ((await this.poll()) === 0 && this.#free > 0) this.#backlog = 0
  }

  /** Claims the runs that this process may execute. Returns their number. */
  poll(): Promise<number> {
    if (this.#polling !== undefined) {
      this.#pollAgain = true
      return this.#polling
    }
    this.#polling = this.#poll().finally(() => {
      this.#polling = undefined
      if (this.#pollAgain && !this.#draining) {
        this.#pollAgain = false
        this.poll().catch(() => {})
      }
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
            for (const live of this.#live.values()) live.loseLease('the process stops')
          })
    await Promise.all([...this.#live.values()].map(({ done }) => done))
    disarm()
    disarmTimeout()
    for (const one of this.#timers) one()
  }

  /** Each part of the work is done even if another part fails, so that no run delays another. Throws the first error in the end. */
  async #poll(): Promise<number> {
    if (this.#draining) return 0
    const { runs, names, versions, lease, options, expire } = this.#host
    const agents = names.flatMap((name) => versions.map((version) => ({ name, version })))
    const { orphanAfter = 600_000, retention = 7 * 86_400_000 } = options
    const errors: unknown[] = []
    const attempt = <T>(work: Promise<T>) => work.catch((error) => void errors.push(error))
    await this.#runPollHooks()
    const limit = Math.min(batchSize, this.#free)
    this.#reserved += limit
    const claimed = (await attempt(this.#claim(agents, limit))) ?? []
    const orphans = await attempt(runs.orphans({ agents, ms: orphanAfter, lease, limit: batchSize }))
    claimed.push(...(orphans ?? []))
    await Promise.all(claimed.map((one) => attempt(this.#startOrGiveUp(one))))
    this.#reserved -= limit
    const expiredCalls = (await attempt(runs.expiredCalls({ agents, limit: batchSize }))) ?? []
    for (const expired of expiredCalls) await attempt(expire(expired))
    await attempt(runs.expire({ olderThan: retention }))
    if (errors.length > 0) throw errors[0]
    return claimed.length
  }

  /** Claims a suspected run only if nothing else is due. It waits for an idle process, but not forever. */
  async #claim(agents: readonly RunningAgent[], limit: number): Promise<ClaimedRun[]> {
    if (limit === 0) return []
    const { runs, lease, clock } = this.#host
    const claimed = await runs.claim({ agents, limit, ms: lease, alone: false })
    this.#backlog = Math.max(claimed.length === limit ? 1 : 0, this.#backlog - claimed.length)
    const isIdle = this.#isIdle && claimed.length === 0
    const hasWaited = clock.monotonic() - this.#lookedAloneAt > maxSuspectWait * lease && claimed.length < limit
    if (isIdle) this.#lookedAloneAt = clock.monotonic()
    if (this.#suspect === undefined && (isIdle || hasWaited))
      claimed.push(...(await runs.claim({ agents, limit: 1, ms: lease, alone: true })))
    return claimed
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
        if (await hook()) this.#pollAgain = true
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
    this.#host.logger.warn(`Durable runs could not be looked after: ${messageOf(error)} It is tried again.`, { error })
  }
}
