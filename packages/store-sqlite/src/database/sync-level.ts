import { type Clock, systemClock } from '@allium/core'

/** The longest time that a commit stays without a sync, in milliseconds. */
const maxUnsynced = 1000

type Level = 'full' | 'normal'

/**
 * Chooses for each transaction whether its commit syncs the log to disk. The log is one file, so a commit that syncs also puts all earlier
 * ones on disk. Commits without a sync are synced within a second.
 */
export class SyncLevel {
  readonly #configured: Level
  readonly #sync: () => void
  #current: Level | undefined
  readonly #clock: Pick<Clock, 'after'>
  #disarm: (() => void) | undefined

  /**
   * @param configured with `normal` no commit syncs
   * @param sync commits a transaction that syncs
   */
  constructor(configured: Level, sync: () => void, clock: Pick<Clock, 'after'> = systemClock) {
    this.#configured = configured
    this.#current = configured
    this.#sync = sync
    this.#clock = clock
  }

  /** Begins a transaction. */
  begin(sync: boolean, execute: (script: string) => void): void {
    const level = sync ? this.#configured : 'normal'
    if (level === this.#current) return execute('begin immediate')
    // A script that fails may have changed the level.
    this.#current = undefined
    execute(`pragma synchronous = ${level}; begin immediate`)
    this.#current = level
  }

  /** Must be called after each commit. */
  committed(): void {
    if (this.#configured === 'normal') return
    if (this.#current === 'full') this.close()
    else this.#disarm ??= this.#clock.after(maxUnsynced, () => this.#syncNow(), { idle: true })
  }

  close(): void {
    this.#disarm?.()
    this.#disarm = undefined
  }

  /** A file that is busy or full is synced by a later commit. */
  #syncNow(): void {
    this.#disarm = undefined
    try {
      this.#sync()
    } catch {}
  }
}
