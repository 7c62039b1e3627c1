import type { Clock } from '@allium/core'

interface Timer {
  readonly due: number
  readonly fn: () => void
}

/** Beyond so many milliseconds of a run it hangs. */
const longest = 5_000_000

/** Virtual time that waits for real work: it moves when no microtask is left, and nothing is being digested. */
export class ProcessClock implements Clock {
  #now: number
  readonly #last: number
  #timers: Timer[] = []

  constructor(now: number) {
    this.#now = now
    this.#last = now + longest
  }
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
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve))
  }

  /** Moves on until the promise has settled; gives 'hangs' where it never does. */
  async until<T>(promise: Promise<T>): Promise<T | 'hangs'> {
    let settled: { value: T } | undefined
    let idle = 0
    let waited = 0
    void promise.then((value) => {
      settled = { value }
    })
    for (;;) {
      do await drained()
      while (digesting > 0)
      if (settled !== undefined) return settled.value
      let first: Timer | undefined
      for (const timer of this.#timers) if (first === undefined || timer.due < first.due) first = timer
      if (first === undefined || first.due > this.#last) {
        if (idle++ > 250) return 'hangs'
        await really(2)
        continue
      }
      // What a module's first import takes is no time of the run.
      if (first.due - this.#now > 1_000 && waited++ < 30) {
        await really(1)
        continue
      }
      idle = 0
      waited = 0
      this.#timers.splice(this.#timers.indexOf(first), 1)
      this.#now = first.due
      first.fn()
    }
  }
}

/** Every microtask has run when an immediate comes. */
const drained = () => new Promise<void>((resolve) => setImmediate(resolve))

const really = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

let digesting = 0

/**
 * Counts what WebCrypto does in threads, until the function that this gives is called. One comes after the other: threads end in any
 * order, and with it the calls that wait for them would take the last places of a limit in any order.
 */
export function watchDigests(): () => void {
  let last: Promise<unknown> = Promise.resolve()
  const subtle = crypto.subtle as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
  for (const name of ['digest', 'sign', 'verify', 'importKey', 'encrypt', 'decrypt']) {
    const work = subtle[name] as (...args: unknown[]) => Promise<unknown>
    subtle[name] = (...args) => {
      digesting++
      const done = last.then(() => work.apply(crypto.subtle, args)).finally(() => digesting--)
      last = done.catch(() => {})
      return done
    }
  }
  return () => {
    for (const name of Object.keys(subtle)) delete subtle[name]
  }
}
