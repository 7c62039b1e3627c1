/** Time. Give your own in tests: `new Agent({ clock })`. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Milliseconds that never go back, for durations and deadlines. */
  monotonic(): number
  /** Calls `fn` after `ms`; the function it gives cancels that. */
  after(ms: number, fn: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, fn) {
    const timer = setTimeout(fn, ms)
    return () => clearTimeout(timer)
  },
}
