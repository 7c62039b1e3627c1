/** Time. Give your own in tests: `new Agent({ clock })`. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Milliseconds that never go back, for durations and deadlines. */
  monotonic(): number
  /** Calls `fn` after `ms`; the function it gives cancels that. With `idle`, waiting for it keeps no process alive. */
  after(ms: number, fn: () => void, options?: { idle?: boolean }): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, fn, { idle = false } = {}) {
    const timer: unknown = setTimeout(fn, ms)
    // A number in browsers, where a page lives without timers.
    if (idle) (timer as { unref?: () => void }).unref?.()
    return () => clearTimeout(timer as number)
  },
}
