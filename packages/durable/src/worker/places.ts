import type { Host } from '../host/host.ts'
import type { LiveRun } from '../run/live-run.ts'

/** A run that started this often without a new step is suspected of crashing its process. */
const suspectAttempts = 3
/** Leases after which a process that is never idle starts a suspected run together with its other runs. */
const maxSuspectWait = 6

/**
 * The places for runs in this process: of those that it executes, and of those that are being claimed or added. A run that is suspected of
 * crashing its process takes all of them until it has recorded a step.
 */
export class Places {
  /** Due runs that this process could not claim, because it had no place or their session was in use. Others may have claimed them since. */
  backlog = 0
  readonly #host: Pick<Host, 'clock' | 'lease' | 'concurrency'>
  readonly #live = new Map<string, LiveRun>()
  /** Places of runs that are being claimed or added. */
  #reserved = 0
  /** Those of runs that are being added, by queue. */
  readonly #adding = new Map<string, number>()
  /** The suspected run that is running here and has not recorded a step. */
  #suspect: LiveRun | undefined
  /** Until then, nothing starts in addition to the suspected run. */
  #isolatedUntil = 0
  /** When this process last looked for a suspected run while it was idle. */
  #lookedAloneAt: number

  constructor(host: Pick<Host, 'clock' | 'lease' | 'concurrency'>) {
    this.#host = host
    this.#lookedAloneAt = host.clock.monotonic()
  }

  /** The runs that this process executes. */
  get live(): LiveRun[] {
    return [...this.#live.values()]
  }
  /** Runs that may start here now. */
  get free(): number {
    const { clock, concurrency } = this.#host
    if (this.#isolatedUntil > clock.monotonic()) return 0
    return Math.max(0, concurrency - this.#live.size - this.#reserved)
  }

  find(run: string): LiveRun | undefined {
    return this.#live.get(run)
  }
  /** Returns how many runs of a queue this process executes. */
  executing(queue: string): number {
    const ofQueue = this.live.filter(({ state }) => state.claimed.run.queue === queue)
    return ofQueue.length + (this.#adding.get(queue) ?? 0)
  }

  /** Keeps places while runs are claimed. @param queue the queue of a run that is being added */
  async reserve<T>(count: number, work: () => Promise<T>, queue?: string): Promise<T> {
    this.#change(count, queue)
    try {
      return await work()
    } finally {
      this.#change(-count, queue)
    }
  }

  /** Gives a run a place. A suspected run takes all places if no other run has one. */
  add(live: LiveRun): void {
    const { clock, lease } = this.#host
    const { run, status, attempts } = live.state.claimed.run
    if (status === 'running' && attempts >= suspectAttempts) {
      if (this.#live.size === 0) this.#isolatedUntil = clock.monotonic() + lease
      this.#suspect = live
    }
    this.#live.set(run, live)
  }
  /** A run is over. It may have been started again. */
  remove(live: LiveRun): void {
    const { run } = live.state.claimed.run
    if (this.#live.get(run) === live) this.#live.delete(run)
  }
  /** A run has recorded a step, or is over. Returns whether it was the suspected one, so that others may start. */
  clear(live: LiveRun): boolean {
    if (this.#suspect !== live) return false
    this.#suspect = undefined
    this.#isolatedUntil = 0
    return true
  }

  /** Whether to claim a suspected run after the other runs that are due. It waits for an idle process, but not forever. */
  maySuspect(claimed: number, limit: number): boolean {
    const { clock, lease } = this.#host
    const isIdle = this.#live.size === 0 && claimed === 0
    const hasWaited = clock.monotonic() - this.#lookedAloneAt > maxSuspectWait * lease && claimed < limit
    if (isIdle) this.#lookedAloneAt = clock.monotonic()
    return this.#suspect === undefined && (isIdle || hasWaited)
  }

  #change(count: number, queue: string | undefined): void {
    this.#reserved += count
    if (queue !== undefined) this.#adding.set(queue, (this.#adding.get(queue) ?? 0) + count)
  }
}
