import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'
import type { Clock } from '@allium/core'

/** Time that all processes of a machine share: leases go by it, so that a wall clock that is set changes none. */
export interface SharedClock extends Pick<Clock, 'now' | 'monotonic'> {
  /** Names the start from which `monotonic` counts: times of another one mean nothing. */
  readonly boot: string
}

export function machineClock(): SharedClock {
  return { now: Date.now, monotonic: () => Number(process.hrtime.bigint() / 1000n) / 1000, boot: bootId() }
}

/** A clock of tests, with the one start that it has. */
export function testClock(clock: Clock): SharedClock {
  return { now: () => Math.floor(clock.now()), monotonic: () => clock.monotonic(), boot: 'given' }
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    // Elsewhere the minute in which the machine started.
    return `started ${Math.round((Date.now() / 1000 - uptime()) / 60)}`
  }
}
