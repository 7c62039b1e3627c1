import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'
import type { Clock } from '@allium/core'

/** A clock that all processes of a machine share. Leases use it, so that setting the wall clock does not change them. */
export interface SharedClock extends Pick<Clock, 'now' | 'monotonic'> {
  /** Identifies the boot from which `monotonic` counts. Times of another boot have no meaning. */
  readonly boot: string
}

export function machineClock(): SharedClock {
  return { now: Date.now, monotonic: () => Number(process.hrtime.bigint() / 1000n) / 1000, boot: bootId() }
}

/** A clock for tests, with a single boot. */
export function testClock(clock: Clock): SharedClock {
  return { now: () => Math.floor(clock.now()), monotonic: () => clock.monotonic(), boot: 'given' }
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    // On other systems, the minute in which the machine started.
    return `started ${Math.round((Date.now() / 1000 - uptime()) / 60)}`
  }
}
