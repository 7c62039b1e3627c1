import type { Clock } from '@allium/core'

export interface ManualClock extends Clock {
  /**
   * Advances the time and fires due timers in order, including timers that are set meanwhile. Pending work runs before, between and
   * after, so that a test can call `await clock.advance(50)` and check the result.
   */
  advance(ms: number): Promise<void>
  /** The number of timers that have not fired. */
  readonly pending: number
}

interface Timer {
  readonly due: number
  readonly fn: () => void
}

/**
 * Creates a clock that only moves when it is advanced: `new Agent({ clock })`. Tests need no sleeps.
 *
 * @param start milliseconds since the epoch
 */
export function manualClock(start = 0): ManualClock {
  let elapsed = 0
  const timers = new Set<Timer>()

  const nextDue = (end: number) => {
    let first: Timer | undefined
    for (const timer of timers) if (timer.due <= end && (first === undefined || timer.due < first.due)) first = timer
    return first
  }

  return {
    now: () => start + elapsed,
    monotonic: () => elapsed,
    after(ms, fn) {
      const timer = { due: elapsed + ms, fn }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    async advance(ms) {
      await workDone()
      const end = elapsed + ms
      for (let timer = nextDue(end); timer !== undefined; timer = nextDue(end)) {
        elapsed = Math.max(elapsed, timer.due)
        timers.delete(timer)
        timer.fn()
        await workDone()
      }
      elapsed = end
    },
    get pending() {
      return timers.size
    },
  }
}

/** Resolves after every promise that can settle without a timer has settled. */
function workDone(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}
