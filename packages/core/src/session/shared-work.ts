import type { Cancel } from '../onion/cancel.ts'
import { AbortableWaits } from './abortable-waits.ts'

interface Current {
  readonly waits: AbortableWaits
  promise: Promise<void>
  joined: number
  done: boolean
}

/**
 * Work that several callers wait for, such as opening a session. It is abandoned when the last caller cancels. The next
 * caller starts it again.
 */
export class SharedWork {
  readonly #work: (waits: AbortableWaits, done: () => void) => Promise<void>
  readonly #report: (error: unknown) => void
  #current: Current | undefined
  /** Abandoned work that is still unwinding. */
  #winding: Promise<void> | undefined

  /** @param work calls `done` when it can no longer be abandoned */
  constructor(work: (waits: AbortableWaits, done: () => void) => Promise<void>, report: (error: unknown) => void) {
    this.#work = work
    this.#report = report
  }

  /** The promise of the work, while it runs and after it has succeeded. */
  get promise(): Promise<void> | undefined {
    return this.#current?.promise
  }

  /** @param by cancels only this wait; without it the caller waits until the end */
  join(by?: Cancel): Promise<void> {
    this.#current ??= this.#begin()
    const current = this.#current
    if (by?.aborted === true) return Promise.reject(by.reason)
    current.joined++
    if (by === undefined) return current.promise
    return new Promise((resolve, reject) => {
      const leave = (reason: unknown) => {
        reject(reason)
        if (--current.joined === 0) this.#abandon(current, reason)
      }
      by.on(leave)
      const off = () => by.off(leave)
      current.promise.then(off, off)
      current.promise.then(resolve, reject)
    })
  }

  /** Abandons the work for all callers, if it is still running. */
  abandon(reason: unknown): void {
    if (this.#current !== undefined) this.#abandon(this.#current, reason)
  }

  /** Makes the next caller start the work again. */
  forget(): void {
    this.#current = undefined
  }

  #begin(): Current {
    const waits = new AbortableWaits(this.#report)
    const current: Current = { waits, promise: Promise.resolve(), joined: 0, done: false }
    const work = () => this.#work(waits, () => (current.done = true))
    current.promise = this.#winding === undefined ? work() : this.#winding.then(work)
    current.promise.catch(() => {
      if (this.#current === current) this.#current = undefined
    })
    return current
  }

  #abandon(current: Current, reason: unknown): void {
    if (current.done) return
    if (this.#current === current) this.#current = undefined
    const winding = current.promise.catch(() => {})
    this.#winding = winding
    winding.then(() => {
      if (this.#winding === winding) this.#winding = undefined
    })
    current.waits.cancel.abort(reason)
  }
}
