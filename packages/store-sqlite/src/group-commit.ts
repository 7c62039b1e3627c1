import { setImmediate } from 'node:timers'
import { isAlliumError } from '@allium/core'

/** Most writes of one transaction: other processes and timers get their turn between two. */
const maxGroupSize = 100

interface QueuedWrite {
  readonly work: () => unknown
  resolve(result: unknown): void
  reject(error: unknown): void
}

interface Connection {
  /** All or nothing. */
  transact<T>(work: () => T): T
  script(sql: string): void
}

/**
 * Writes that are asked in one turn of the event loop share a transaction, in their order, and are answered once it is on the
 * disk. Where one of them fails, all are done again, each behind a savepoint of its own: they do nothing but ask the database.
 */
export class GroupCommit {
  readonly #db: Connection
  readonly #queue: QueuedWrite[] = []
  #isScheduled = false

  constructor(db: Connection) {
    this.#db = db
  }

  enqueue<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ work, resolve: resolve as QueuedWrite['resolve'], reject })
      this.#schedule()
    })
  }

  /** Writes now what was asked by now. */
  flush(): void {
    while (this.#queue.length > 0) this.#commit(this.#queue.splice(0, maxGroupSize))
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
      const results = this.#db.transact(() => writes.map(({ work }) => work()))
      for (const [i, { resolve }] of writes.entries()) resolve(results[i])
    } catch (error) {
      // What is wrong with one is no fault of the others; a file that is gone or held is so for all.
      if (writes.length > 1 && !isAlliumError(error, 'store.unavailable')) this.#commitSeparately(writes)
      else for (const { reject } of writes) reject(error)
    }
  }

  /** In one transaction again, in which what fails takes back nothing but its own. */
  #commitSeparately(writes: readonly QueuedWrite[]): void {
    try {
      const settlers = this.#db.transact(() => writes.map((write) => this.#runInSavepoint(write)))
      for (const settle of settlers) settle()
    } catch {
      // There is no room for all of them, say: each alone, as long as there is.
      for (const write of writes) this.#commit([write])
    }
  }

  /** What is to be told once it is on the disk. */
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
