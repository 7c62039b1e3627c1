import type { Clock } from '@allium/core'

/** Receives what a watched clock said. */
export interface ClockWatcher {
  read(now: number): void
  fired(ms: number): void
}

export interface WatchedClock {
  readonly clock: Clock
  /** Whether the code of a timer is running. */
  readonly isFiring: boolean
  /** From now on nothing is told. The clock stays in use: a session keeps that of its last run. */
  stop(): void
}

/** Returns a clock that is the same as another one, and tells the watcher of each reading and each timer that fired. */
export function watchClock(clock: Clock, told: ClockWatcher): WatchedClock {
  let watcher: ClockWatcher | undefined = told
  let isFiring = false
  return {
    clock: {
      now() {
        const now = clock.now()
        watcher?.read(now)
        return now
      },
      monotonic: () => clock.monotonic(),
      after(ms, fn, options) {
        const fire = () => {
          watcher?.fired(ms)
          isFiring = true
          try {
            fn()
          } finally {
            isFiring = false
          }
        }
        return clock.after(ms, fire, options)
      },
    },
    get isFiring() {
      return isFiring
    },
    stop() {
      watcher = undefined
    },
  }
}
