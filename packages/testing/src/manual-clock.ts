import type { Clock } from '@allium/core'

export interface ManualClock extends Clock {
  /**
   * Moves time on and fires what falls due, in order, timers set on the way included. Work that is under way gets
   * its turn before, between and after, so that a test can say `await clock.advance(50)` and look.
   */
  advance(ms: number): Promise<void>
  /** Timers that are set and have not fired. */
  readonly pending: number
}

interface Timer {
  readonly due: number
  readonly fn: () => void
}

/**
 * A clock that stands still until it is told to move: `new Agent({ clock })`. No test sleeps.
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

/** A macrotask: every promise that can settle without a timer has settled when it comes. */
function workDone(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}
