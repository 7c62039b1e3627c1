/** Time. Give your own in tests: `new Agent({ clock })`. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Milliseconds that never go back, for durations and deadlines. */
  monotonic(): number
  /** Calls `fn` after `ms`; the function it gives cancels that. With `idle`, waiting for it keeps no process alive. */
  after(ms: number, fn: () => void, options?: { idle?: boolean }): () => void
}

/** The clock of the machine: `Date.now()`, and timers of which those that only tidy up keep no process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, fn, { idle = false } = {}) {
    let timer: unknown
    const arm = (remaining: number) => {
      timer = setTimeout(() => (remaining > longest ? arm(remaining - longest) : fn()), Math.min(remaining, longest))
      // A number in browsers, where a page lives without timers.
      if (idle) (timer as { unref?: () => void }).unref?.()
    }
    arm(ms)
    return () => clearTimeout(timer as number)
  },
}

/** What `setTimeout` takes, 24.8 days; with more it fires at once. */
const longest = 2 ** 31 - 1
