import { setImmediate } from 'node:timers'
import { isAlliumError } from '@allium/core'

/** Most writes of one transaction: other processes and timers get their turn between two. */
const most = 100

interface Asked {
  readonly work: () => unknown
  resolve(answer: unknown): void
  reject(error: unknown): void
}

interface Scripts {
  /** All or nothing. */
  transact<T>(work: () => T): T
  script(sql: string): void
}

/**
 * Writes that are asked in one turn of the event loop share a transaction, in their order, and are answered once it is on the
 * disk. Where one of them fails, all are done again, each behind a savepoint of its own: they do nothing but ask the database.
 */
export class SharedCommit {
  readonly #db: Scripts
  readonly #waiting: Asked[] = []
  #isDue = false

  constructor(db: Scripts) {
    this.#db = db
  }

  ask<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, resolve: resolve as Asked['resolve'], reject })
      this.#later()
    })
  }

  /** Writes now what was asked by now. */
  flush(): void {
    while (this.#waiting.length > 0) this.#commit(this.#waiting.splice(0, most))
  }

  #later(): void {
    if (this.#isDue) return
    this.#isDue = true
    setImmediate(() => {
      this.#isDue = false
      this.#commit(this.#waiting.splice(0, most))
      if (this.#waiting.length > 0) this.#later()
    })
  }

  #commit(asks: readonly Asked[]): void {
    if (asks.length === 0) return
    try {
      const answers = this.#db.transact(() => asks.map(({ work }) => work()))
      for (const [i, { resolve }] of asks.entries()) resolve(answers[i])
    } catch (error) {
      // What is wrong with one is no fault of the others; a file that is gone or held is so for all.
      if (asks.length > 1 && !isAlliumError(error, 'store.unavailable')) this.#commitApart(asks)
      else for (const { reject } of asks) reject(error)
    }
  }

  /** In one transaction again, in which what fails takes back nothing but its own. */
  #commitApart(asks: readonly Asked[]): void {
    try {
      const ends = this.#db.transact(() => asks.map((one) => this.#apart(one)))
      for (const end of ends) end()
    } catch {
      // There is no room for all of them, say: each alone, as long as there is.
      for (const one of asks) this.#commit([one])
    }
  }

  /** What is to be told once it is on the disk. */
  #apart({ work, resolve, reject }: Asked): () => void {
    this.#db.script('savepoint apart')
    try {
      const answer = work()
      this.#db.script('release apart')
      return () => resolve(answer)
    } catch (error) {
      this.#db.script('rollback to apart; release apart')
      return () => reject(error)
    }
  }
}
