import type { MissedTicks } from '@allium/store'
import type { Ticks } from './cron.ts'

/** Most missed ticks that run with `missed: 'all'`. */
const maxMissed = 100

/** The tick to run now, and the schedule's next one. */
export interface DueTick {
  /** Undefined if none runs. */
  readonly tick?: number
  /** Undefined if the pattern never fires again. */
  readonly nextAt?: number | undefined
}

/**
 * Decides which of the ticks from `nextAt` up to `now` runs. A tick is missed if a later tick has come, too, or if it is older than
 * `grace` milliseconds.
 */
export function dueTick(
  ticks: Ticks,
  { nextAt, now, missed, grace }: { nextAt: number; now: number; missed: MissedTicks; grace: number },
): DueTick {
  // A time zone may have changed since `nextAt` was stored, so the latest tick may be before it.
  const latest = Math.max(nextAt, ticks.last(1, now)[0] ?? nextAt)
  if (missed === 'skip' && now - latest > grace) return { nextAt: ticks.next(now) }
  const tick = missed === 'all' ? oldestOf(ticks, nextAt, now) : latest
  return { tick, nextAt: ticks.next(tick) }
}

/** Returns the oldest tick that still runs. */
function oldestOf(ticks: Ticks, nextAt: number, now: number): number {
  return Math.max(nextAt, ticks.last(maxMissed, now)[0] ?? nextAt)
}
