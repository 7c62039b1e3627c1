import type { Clock } from '../../src/index.ts'
import { threads } from './threads.ts'

interface Timer {
  readonly due: number
  readonly fn: () => void
}

/** Virtual time for real promises: it moves when no microtask is left, and no thread of the platform works. */
export class CaseClock implements Clock {
  #now = 0
  #timers: Timer[] = []

  now(): number {
    return this.#now
  }
  monotonic(): number {
    return this.#now
  }
  after(ms: number, fn: () => void): () => void {
    const timer = { due: this.#now + ms, fn }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }
  /** Resolves after so long; rejects with the signal's reason where one aborts before. */
  wait(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        cancel()
        reject(signal?.reason)
      }
      const cancel = this.after(ms, () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      })
      if (signal?.aborted === true) onAbort()
      else signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  /** Moves on until the promise has settled; gives undefined where it never does. */
  async until<T>(promise: Promise<T>): Promise<T | undefined> {
    let settled: { value: T } | undefined
    void promise.then((value) => {
      settled = { value }
    })
    for (;;) {
      await drained()
      if (settled !== undefined) return settled.value
      let first: Timer | undefined
      for (const timer of this.#timers) if (first === undefined || timer.due < first.due) first = timer
      if (first === undefined) return undefined
      this.#timers.splice(this.#timers.indexOf(first), 1)
      this.#now = first.due
      first.fn()
    }
  }
}

/** Every microtask has run when an immediate comes. */
async function drained(): Promise<void> {
  do await new Promise<void>((resolve) => setImmediate(resolve))
  while (threads.busy > 0)
}
