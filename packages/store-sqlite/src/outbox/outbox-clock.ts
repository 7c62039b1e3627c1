import type { Database } from '../database/database.ts'
import type { SharedClock } from '../database/machine-clock.ts'

/** The maximum time that counts while the elapsed time is unknown because the machine was off, in milliseconds. */
const maxUnseen = 24 * 3_600_000

/**
 * The clock for the age of records, in milliseconds. It uses the monotonic clock, so that setting the wall clock deletes no undelivered
 * record. Across a reboot it uses the wall clock, for a day at most.
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

  /** Returns the current time and stores it. */
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
