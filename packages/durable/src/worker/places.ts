import type { Host } from '../host/host.ts'
import type { LiveRun } from '../run/live-run.ts'

/** The places for runs in this process: of those that it executes, and of those that are being claimed or added. */
export class Places {
  readonly #host: Pick<Host, 'limits'>
  readonly #live = new Map<string, LiveRun>()
  /** Places of runs that are being claimed or added. */
  #reserved = 0
  /** Those of runs that are being added, by queue. */
  readonly #adding = new Map<string, number>()

  constructor(host: Pick<Host, 'limits'>) {
    this.#host = host
  }

  /** The runs that this process executes. */
  get live(): LiveRun[] {
    return [...this.#live.values()]
  }
  get isIdle(): boolean {
    return this.#live.size === 0
  }
  get free(): number {
    return Math.max(0, this.#host.limits.concurrency - this.#live.size - this.#reserved)
  }

  find(run: string): LiveRun | undefined {
    return this.#live.get(run)
  }
  add(live: LiveRun): void {
    this.#live.set(live.claimed.run.run, live)
  }
  /** Removes a run that is over, unless it was started again. */
  remove(live: LiveRun): void {
    const { run } = live.claimed.run
    if (this.#live.get(run) === live) this.#live.delete(run)
  }

  /** Returns how many runs of a queue this process executes. */
  executing(queue: string): number {
    const ofQueue = this.live.filter(({ claimed }) => claimed.run.queue === queue)
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

  #change(count: number, queue: string | undefined): void {
    this.#reserved += count
    if (queue !== undefined) this.#adding.set(queue, (this.#adding.get(queue) ?? 0) + count)
  }
}
