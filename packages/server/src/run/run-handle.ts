import type { Clock, SessionKey } from '@allium/core'
import type { EntryReader } from './entry-reader.ts'
import type { Answer } from './result.ts'

/** A run that somebody has asked for, as its readers see it. */
export interface RunHandle {
  readonly key: SessionKey
  /** Undefined for a session that is not stored. */
  readonly sessionId: string | undefined
  readonly idempotencyKey: string | undefined
  /** Undefined before it has started. */
  readonly turnId: string | undefined
  /** It has a place in the log; rejects where it was refused before. */
  readonly started: Promise<unknown>
  /** It is over, and all of it is in the log. */
  readonly ended: Promise<void>
  readonly readers: Readers
  /** What it came to. @throws what it failed with */
  answer(): Promise<Answer>
  /** Its events, from the first on; asking throws what it was refused with, or why they cannot be kept. */
  entries(signal: AbortSignal): EntryReader
  stop(reason: string): void
}

export interface ReadersOptions {
  readonly clock: Clock
  readonly onDisconnect: 'continue' | 'abort'
  /** Milliseconds. */
  readonly abortAfter: number
}

/** How many read a run here. Under `'abort'` a run whose last reader has left ends, unless one comes back in time. */
export class Readers {
  readonly #options: ReadersOptions
  readonly #stop: (reason: string) => void
  #count = 0

  constructor(options: ReadersOptions, stop: (reason: string) => void) {
    this.#options = options
    this.#stop = stop
  }

  get count(): number {
    return this.#count
  }

  join(): void {
    this.#count++
  }

  leave(): void {
    this.#count--
    const { onDisconnect, abortAfter, clock } = this.#options
    if (onDisconnect !== 'abort' || this.#count > 0) return
    const abort = () => {
      if (this.#count === 0) this.#stop('its last reader has left')
    }
    if (abortAfter === 0) abort()
    else clock.after(abortAfter, abort, { idle: true })
  }
}
