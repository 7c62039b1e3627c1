import type { Database } from './database.ts'
import type { SharedClock } from './machine-clock.ts'

/** Milliseconds that count at most for the time in which nobody can tell how much passed: while the machine was off. */
const maxUnseen = 24 * 3_600_000

/**
 * Milliseconds by which records age. They go by the monotonic clock, so that a wall clock that is set deletes no record that was never
 * delivered. Over a restart of the machine the wall clock counts, for a day at most.
 */
export class OutboxClock {
  readonly #db: Database
  readonly #clock: SharedClock

  constructor(db: Database, clock: SharedClock) {
    this.#db = db
    this.#clock = clock
  }

  now(): number {
    const row = this.#db.get('select elapsed, monotonic, boot, seen_at from outbox_clock')
    const { elapsed = 0, monotonic = 0, boot = '', seen_at: seenAt = 0 } = row ?? {}
    if (seenAt === 0) return 0
    const elapsedSince =
      boot === this.#clock.boot ? this.#clock.monotonic() - Number(monotonic) : this.#elapsedWhileOff(Number(seenAt))
    return Number(elapsed) + Math.max(0, elapsedSince)
  }

  /** The same, and remembers how far it came. */
  tick(): number {
    const elapsed = this.now()
    this.#db.run(
      'update outbox_clock set elapsed = ?, monotonic = ?, boot = ?, seen_at = ?',
      ...[elapsed, this.#clock.monotonic(), this.#clock.boot, Math.max(1, this.#clock.now())],
    )
    return elapsed
  }

  #elapsedWhileOff(seenAt: number): number {
    return Math.min(this.#clock.now() - seenAt, maxUnseen)
  }
}
