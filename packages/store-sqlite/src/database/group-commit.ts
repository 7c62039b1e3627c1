import { setImmediate, setTimeout } from 'node:timers'
import { isAlliumError } from '@allium/core'

/** The longest time that a write waits for another one, in milliseconds. */
const maxWait = 50
/** The maximum number of writes in one transaction; other processes and timers run between two. */
const maxGroupSize = 100

interface QueuedWrite {
  readonly work: () => unknown
  readonly sync: boolean
  resolve(result: unknown): void
  reject(error: unknown): void
}

interface Connection {
  /** Commits all of `work` or none of it. With `sync` it is on disk when this returns. */
  transact<T>(work: () => T, sync: boolean): T
  script(sql: string): void
}

/**
 * Writes that are requested in the same turn of the event loop share a transaction, in order, and resolve once it is committed. If one of
 * them fails, all run again, each in its own savepoint. They must only use the database.
 */
export class GroupCommit {
  readonly #db: Connection
  readonly #queue: QueuedWrite[] = []
  #isScheduled = false
  #timer: NodeJS.Timeout | undefined

  constructor(db: Connection) {
    this.#db = db
  }

  /** @param sync whether the write must be on disk before it resolves */
  enqueue<T>(work: () => T, sync: boolean): Promise<T> {
    this.#schedule()
    return this.#push(work, sync)
  }

  /** Runs the work before the next write, in its transaction, or in one of its own after 50 ms. */
  enqueueBeforeNext<T>(work: () => T): Promise<T> {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.flush()
    }, maxWait)
    return this.#push(work, false)
  }

  /** Commits all queued writes now. */
  flush(): void {
    while (this.#queue.length > 0) this.#commit(this.#queue.splice(0, maxGroupSize))
  }

  #push<T>(work: () => T, sync: boolean): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ work, sync, resolve: resolve as QueuedWrite['resolve'], reject })
    })
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#commit(this.#queue.splice(0, maxGroupSize))
      if (this.#queue.length > 0) this.#schedule()
    })
  }

  #commit(writes: readonly QueuedWrite[]): void {
    if (writes.length === 0) return
    try {
      const results = this.#db.transact(() => writes.map(({ work }) => work()), needSync(writes))
      for (const [i, { resolve }] of writes.entries()) resolve(results[i])
    } catch (error) {
      // An error in one write does not affect the others, but an unavailable file affects all.
      if (writes.length > 1 && !isAlliumError(error, 'store.unavailable')) this.#commitSeparately(writes)
      else for (const { reject } of writes) reject(error)
    }
  }

  /** Runs the writes again in one transaction, where a failure rolls back only its own write. */
  #commitSeparately(writes: readonly QueuedWrite[]): void {
    try {
      const settlers = this.#db.transact(() => writes.map((write) => this.#runInSavepoint(write)), needSync(writes))
      for (const settle of settlers) settle()
    } catch {
      // For example there is no space for all of them: commit each one separately, as long as there is.
      for (const write of writes) this.#commit([write])
    }
  }

  /** Returns the function that settles the write once the transaction is on disk. */
  #runInSavepoint({ work, resolve, reject }: QueuedWrite): () => void {
    this.#db.script('savepoint apart')
    try {
      const result = work()
      this.#db.script('release apart')
      return () => resolve(result)
    } catch (error) {
      this.#db.script('rollback to apart; release apart')
      return () => reject(error)
    }
  }
}

function needSync(writes: readonly QueuedWrite[]): boolean {
  return writes.some(({ sync }) => sync)
}
