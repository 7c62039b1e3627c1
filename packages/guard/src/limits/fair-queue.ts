import { type Clock, followSignal } from '@allium/core'

interface Limits {
  readonly limit: number
  readonly perKey: number
  readonly queue: number
}

interface QueueEntry {
  readonly grant: (release: () => void) => void
}

/** Gives slots to keys in rotation. Within a key, slots go in order of arrival. */
export class FairQueue {
  running = 0
  queued = 0
  readonly #limits: Limits
  /** Slots in use, by key. */
  readonly #active = new Map<string, number>()
  /** Queued entries by key; the key whose turn is next comes first. */
  readonly #queues = new Map<string, QueueEntry[]>()

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /** Takes a slot immediately if one is free. Returns the function that releases it. */
  tryAcquire(key: string): (() => void) | undefined {
    return this.#hasCapacity(key) ? this.#acquire(key) : undefined
  }

  /** Waits for a slot. Resolves to `full` when the queue is full and to `late` after `maxWait`. Rejects when the signal aborts. */
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

  /** A released slot goes to a queued entry at once, so a free slot means that no queued entry can take it. */
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

  /** Moves a key that was just served to the end of the rotation. */
  #moveToEnd(key: string): void {
    const queue = this.#queues.get(key)
    if (queue === undefined) return
    this.#queues.delete(key)
    this.#queues.set(key, queue)
  }
}
