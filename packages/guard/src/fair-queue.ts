import { type Clock, followSignal } from '@allium/core'

interface Limits {
  readonly limit: number
  readonly perKey: number
  readonly queue: number
}

interface QueueEntry {
  readonly grant: (release: () => void) => void
}

/** Places that are given to keys in turn; those of one key in the order in which they came. */
export class FairQueue {
  running = 0
  queued = 0
  readonly #limits: Limits
  /** Places taken by key. */
  readonly #active = new Map<string, number>()
  /** Who waits by key; the key whose turn is next comes first. */
  readonly #queues = new Map<string, QueueEntry[]>()

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /** A place at once, where one is free and nobody waits who could take it; the function leaves it. */
  tryAcquire(key: string): (() => void) | undefined {
    return this.#hasCapacity(key) ? this.#acquire(key) : undefined
  }

  /** A place when there is one; `full` where too many wait, `late` after `maxWait`. Rejects when the signal aborts. */
  acquire(
    key: string,
    { clock, signal, maxWait }: { clock: Clock; signal: AbortSignal; maxWait: number },
  ): Promise<(() => void) | 'full' | 'late'> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      if (this.queued >= this.#limits.queue) return resolve('full')
      const finish = (complete: () => void) => {
        stopTimer()
        unfollow()
        complete()
      }
      const entry: QueueEntry = { grant: (release) => finish(() => resolve(release)) }
      const stopTimer = clock.after(maxWait, () => {
        this.#remove(key, entry)
        finish(() => resolve('late'))
      })
      const unfollow = followSignal(signal, (reason) => {
        this.#remove(key, entry)
        finish(() => reject(reason))
      })
      this.#queueOf(key).push(entry)
      this.queued++
    })
  }

  /** A place is left as soon as one who may take it waits, so a free one has nobody to take it. */
  #hasCapacity(key: string): boolean {
    return this.running < this.#limits.limit && (this.#active.get(key) ?? 0) < this.#limits.perKey
  }

  #acquire(key: string): () => void {
    this.running++
    this.#active.set(key, (this.#active.get(key) ?? 0) + 1)
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      this.#release(key)
    }
  }

  #release(key: string): void {
    this.running--
    const active = (this.#active.get(key) as number) - 1
    if (active === 0) this.#active.delete(key)
    else this.#active.set(key, active)
    for (const [next, queue] of this.#queues) {
      if (!this.#hasCapacity(next)) continue
      const entry = queue[0] as QueueEntry
      this.#remove(next, entry)
      this.#moveToEnd(next)
      return entry.grant(this.#acquire(next))
    }
  }

  #queueOf(key: string): QueueEntry[] {
    const queue = this.#queues.get(key) ?? []
    this.#queues.set(key, queue)
    return queue
  }

  #remove(key: string, entry: QueueEntry): void {
    const queue = this.#queues.get(key)
    const at = queue?.indexOf(entry) ?? -1
    if (queue === undefined || at < 0) return
    queue.splice(at, 1)
    this.queued--
    if (queue.length === 0) this.#queues.delete(key)
  }

  /** The key has had its turn. */
  #moveToEnd(key: string): void {
    const queue = this.#queues.get(key)
    if (queue === undefined) return
    this.#queues.delete(key)
    this.#queues.set(key, queue)
  }
}
