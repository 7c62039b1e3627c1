import { type Clock, followSignal } from '@allium/core'

interface Limits {
  readonly limit: number
  readonly perKey: number
  readonly queue: number
}

interface Waiting {
  readonly enter: (leave: () => void) => void
}

/** Places that are given to keys in turn; those of one key in the order in which they came. */
export class FairQueue {
  running = 0
  waiting = 0
  readonly #limits: Limits
  /** Places taken by key. */
  readonly #taken = new Map<string, number>()
  /** Who waits by key; the key whose turn is next comes first. */
  readonly #lines = new Map<string, Waiting[]>()

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /** A place at once, where one is free and nobody waits who could take it; the function leaves it. */
  tryEnter(key: string): (() => void) | undefined {
    return this.#hasRoom(key) ? this.#take(key) : undefined
  }

  /** A place when there is one; `full` where too many wait, `late` after `maxWait`. Rejects when the signal aborts. */
  enter(
    key: string,
    { clock, signal, maxWait }: { clock: Clock; signal: AbortSignal; maxWait: number },
  ): Promise<(() => void) | 'full' | 'late'> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      if (this.waiting >= this.#limits.queue) return resolve('full')
      const settle = (how: () => void) => {
        stop()
        release()
        how()
      }
      const waiting: Waiting = { enter: (leave) => settle(() => resolve(leave)) }
      const stop = clock.after(maxWait, () => {
        this.#forget(key, waiting)
        settle(() => resolve('late'))
      })
      const release = followSignal(signal, (reason) => {
        this.#forget(key, waiting)
        settle(() => reject(reason))
      })
      this.#line(key).push(waiting)
      this.waiting++
    })
  }

  /** A place is left as soon as one who may take it waits, so a free one has nobody to take it. */
  #hasRoom(key: string): boolean {
    return this.running < this.#limits.limit && (this.#taken.get(key) ?? 0) < this.#limits.perKey
  }

  #take(key: string): () => void {
    this.running++
    this.#taken.set(key, (this.#taken.get(key) ?? 0) + 1)
    let left = false
    return () => {
      if (left) return
      left = true
      this.#leave(key)
    }
  }

  #leave(key: string): void {
    this.running--
    const taken = (this.#taken.get(key) as number) - 1
    if (taken === 0) this.#taken.delete(key)
    else this.#taken.set(key, taken)
    for (const [next, line] of this.#lines) {
      if (!this.#hasRoom(next)) continue
      const waiting = line[0] as Waiting
      this.#forget(next, waiting)
      this.#toEnd(next)
      return waiting.enter(this.#take(next))
    }
  }

  #line(key: string): Waiting[] {
    const line = this.#lines.get(key) ?? []
    this.#lines.set(key, line)
    return line
  }

  #forget(key: string, waiting: Waiting): void {
    const line = this.#lines.get(key)
    const at = line?.indexOf(waiting) ?? -1
    if (line === undefined || at < 0) return
    line.splice(at, 1)
    this.waiting--
    if (line.length === 0) this.#lines.delete(key)
  }

  /** The key has had its turn. */
  #toEnd(key: string): void {
    const line = this.#lines.get(key)
    if (line === undefined) return
    this.#lines.delete(key)
    this.#lines.set(key, line)
  }
}
