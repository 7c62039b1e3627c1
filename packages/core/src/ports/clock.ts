import { followSignal } from './follow-signal.ts'
/** The source of time. Tests can pass their own: `new Agent({ clock })`. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** A monotonic time in milliseconds, for durations and deadlines. */
  monotonic(): number
  /** Calls `fn` after `ms`. Returns a function that cancels the timer. With `idle`, the timer does not keep the process alive. */
  after(ms: number, fn: () => void, options?: { idle?: boolean }): () => void
}

/** The system clock: `Date.now()`, and timers. Timers for cleanup do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, fn, { idle = false } = {}) {
    let timer: unknown
    const arm = (remaining: number) => {
      timer = setTimeout(() => (remaining > longest ? arm(remaining - longest) : fn()), Math.min(remaining, longest))
      // Browsers return a number, which has no `unref`.
      if (idle) (timer as { unref?: () => void }).unref?.()
    }
    arm(ms)
    return () => clearTimeout(timer as number)
  },
}

/** The maximum of `setTimeout`, 24.8 days. A longer timer would fire at once. */
const longest = 2 ** 31 - 1

/** Waits `ms` on a clock. Rejects with the signal's reason when it aborts. With `idle`, the timer does not keep the process alive. */
export function delay(ms: number, clock: Clock, signal: AbortSignal, options: { idle?: boolean } = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    let release = () => {}
    const stop = clock.after(
      ms,
      () => {
        release()
        resolve()
      },
      options,
    )
    release = followSignal(signal, (reason) => {
      stop()
      reject(reason)
    })
  })
}
