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
    let timer: ReturnType<typeof setTimeout>
    const arm = (left: number) => {
      timer = setTimeout(() => (left > longest ? arm(left - longest) : fn()), Math.min(left, longest))
    }
    arm(ms)
    return () => clearTimeout(timer)
  },
}

/** What `setTimeout` takes, 24.8 days; with more it fires at once. */
const longest = 2 ** 31 - 1
