import { type ClaimedRun, messageOf } from '@allium/core'
import type { Host } from './host.ts'
import { LiveRun } from './live-run.ts'

/** Begun so often without a new step, a run may be what ends its process: nothing else is begun beside it. */
const alone = 3
/** Runs taken in one pass. */
const some = 50

/** Runs that this process runs: it takes what waits and what was lost, and renews what it has. */
export class Worker {
  readonly #host: Host
  readonly #live = new Map<string, LiveRun>()
  #looking: Promise<number> | undefined
  #again = false
  #disarm: (() => void)[] = []
  #quietUntil = 0
  #draining = false

  constructor(host: Host) {
    this.#host = host
    const { lease } = host
    // A lease that has just been renewed is looked at after one and a quarter, at the latest.
    this.#every(lease / 4, () => this.#isQuiet || this.look())
    this.#every(lease / 3, () => this.#renew())
  }

  get draining(): boolean {
    return this.#draining
  }
  /** A run that may end its process goes on here. */
  get #isQuiet(): boolean {
    return this.#quietUntil > this.#host.clock.monotonic()
  }
  /** Milliseconds for which a new run may be taken at once; undefined while none may. */
  get claim(): number | undefined {
    return this.#draining || this.#isQuiet ? undefined : this.#host.lease
  }

  /** Its log is open then: who reads it waits for what comes. */
  async begin(given: ClaimedRun): Promise<void> {
    const claimed = await this.#renamed(given)
    const { run, lease } = claimed
    const { tenant, owner } = run.key
    const by = { tenant, owner, since: this.#host.clock.now(), lease }
    await this.#host.events.append({ key: run.key, turnId: run.run }, lease.token, [], { by })
    if (run.attempts >= alone) this.#quietUntil = this.#host.clock.monotonic() + this.#host.lease
    // Its own lease had lapsed: what it had begun is as lost as that of any other process.
    const earlier = this.#live.get(run.run)
    earlier?.lose('the run was begun again')
    const live = new LiveRun(this.#host, claimed, earlier)
    this.#live.set(run.run, live)
    void live.done.finally(() => {
      if (this.#live.get(run.run) === live) this.#live.delete(run.run)
      if (run.attempts >= alone) this.#quietUntil = 0
    })
  }

  /** A run that began under another name of its agent goes on under the one of today, with its session. */
  async #renamed(claimed: ClaimedRun): Promise<ClaimedRun> {
    const { run, lease } = claimed
    const { sessionNames } = this.#host.agent
    const [agent = run.key.agent] = sessionNames
    if (agent === run.key.agent) return claimed
    const key = { ...run.key, agent }
    if (!(await this.#host.sessions.adopt(key, [run.key.agent], { lease }))) return claimed
    return { run: { ...run, key }, lease: { ...lease, key } }
  }

  /** One pass: takes what this process may run. Gives how many. */
  look(): Promise<number> {
    if (this.#looking !== undefined) {
      this.#again = true
      return this.#looking
    }
    this.#looking = this.#look().finally(() => {
      this.#looking = undefined
      if (this.#again && !this.#draining) {
        this.#again = false
        this.look().catch(() => {})
      }
    })
    return this.#looking
  }

  async drain(timeout?: number): Promise<void> {
    this.#draining = true
    const { clock, lease } = this.#host
    await this.#looking?.catch(() => {})
    const disarm = clock.after(lease, () => {
      for (const live of this.#live.values()) live.leave('the process stops')
    })
    const giveUp =
      timeout === undefined
        ? () => {}
        : clock.after(timeout, () => {
            for (const live of this.#live.values()) live.lose('the process stops')
          })
    await Promise.all([...this.#live.values()].map(({ done }) => done))
    disarm()
    giveUp()
    for (const one of this.#disarm) one()
  }

  async #look(): Promise<number> {
    if (this.#draining) return 0
    const { runs, names, version, lease, options } = this.#host
    const agents = names.map((name) => ({ name, version }))
    const { orphanAfter = 600_000, keepFailed = 7 * 86_400_000 } = options
    const claimed = [
      ...(await runs.claim({ agents, limit: some, ms: lease, alone: this.#live.size === 0 })),
      ...(await runs.orphans({ agents, ms: orphanAfter, lease, limit: some })),
    ]
    await Promise.all(claimed.map((one) => this.begin(one)))
    for (const expired of await runs.expired({ agents, limit: some })) await this.#host.expire(expired)
    await runs.expire({ olderThan: keepFailed })
    return claimed.length
  }

  async #renew(): Promise<void> {
    const live = [...this.#live.values()]
    if (live.length === 0) return
    for (const one of live) one.checkHeld()
    const until = this.#host.clock.monotonic() + this.#host.lease
    const leases = live.map(({ claimed }) => claimed.lease)
    const held = await this.#host.runs.renew(leases, this.#host.lease).catch((error) => {
      for (const one of live) one.checkHeld()
      throw error
    })
    for (const [i, one] of live.entries())
      if (held[i] === false) one.lose('another process has taken the run')
      else one.held(until)
  }

  #every(ms: number, work: () => unknown): void {
    const { clock, logger } = this.#host
    let off = () => {}
    const arm = () => {
      off = clock.after(ms, async () => {
        arm()
        try {
          await work()
        } catch (error) {
          logger.warn(`Durable runs could not be looked after: ${messageOf(error)} It is tried again.`, { error })
        }
      })
    }
    arm()
    this.#disarm.push(() => off())
  }
}
