import type { RunKey, RunSignal } from '@allium/core'
import type { AskedSignal, RunHead } from './event-table.ts'
import type { Watcher } from './poller.ts'
import type { ReaderSources } from './reader.ts'

/** Looks from one try to open a signal to the next: about a second. */
const looksBetween = 16

type Hear = (signal: RunSignal) => void | Promise<void>

/** Who is told what is asked of a run, until another one listens. */
export class Listener implements Watcher {
  readonly idle = true
  readonly run: RunKey
  readonly #sources: ReaderSources
  readonly #number: number
  readonly #hear: Hear
  /** The last signal that it was told. */
  #told = 0
  /** Signals before that one which could not be opened. */
  readonly #unopened = new Set<number>()
  /** Looks until it tries those again. */
  #patience = 0
  #telling = false
  #stopped = false

  constructor(sources: ReaderSources, run: RunKey, number: number, hear: Hear) {
    this.#sources = sources
    this.run = run
    this.#number = number
    this.#hear = hear
    sources.poller.add(this)
  }

  stop(): void {
    this.#sources.poller.delete(this)
    this.#stopped = true
  }

  see(head: RunHead | undefined): boolean {
    if (head === undefined || head.listener !== this.#number) {
      this.stop()
      return false
    }
    const isDue = head.asked > this.#told || (this.#unopened.size > 0 && --this.#patience <= 0)
    if (!isDue || this.#telling || this.#stopped) return false
    this.#telling = true
    this.#patience = looksBetween
    void this.#tell(head.asked)
    return true
  }

  /** What is asked is kept: it is told as soon as the store can be asked again. */
  fail(): void {}

  /** One that cannot be opened holds up no other, and is tried again later. */
  async #tell(last: number): Promise<void> {
    try {
      for (const asked of await this.#waiting()) {
        if (!this.#isNew(asked.n)) continue
        const signal = await this.#opened(asked)
        if (this.#stopped) return
        this.#told = Math.max(this.#told, asked.n)
        if (signal !== undefined) void this.#deal(asked.n, signal)
      }
      this.#told = Math.max(this.#told, last)
    } catch {
      // The next look tries again.
    } finally {
      this.#telling = false
    }
  }

  /** What is kept of the run's signals, from the first on that it was not told. */
  async #waiting(): Promise<AskedSignal[]> {
    const after = Math.min(this.#told, ...[...this.#unopened].map((n) => n - 1))
    const waiting = await this.#sources.table.asked(this.run, after)
    for (const n of this.#unopened) if (waiting.every((asked) => asked.n !== n)) this.#unopened.delete(n)
    return waiting
  }

  #isNew(n: number): boolean {
    return n > this.#told || this.#unopened.has(n)
  }

  /** Undefined for one that is not to be told now. */
  async #opened(asked: AskedSignal): Promise<RunSignal | undefined> {
    try {
      const signal = await this.#sources.sealer.asked(this.run, asked)
      this.#unopened.delete(asked.n)
      return signal
    } catch {
      this.#unopened.add(asked.n)
      return undefined
    }
  }

  async #deal(n: number, signal: RunSignal): Promise<void> {
    try {
      await this.#hear(signal)
      await this.#sources.table.deal(this.run, this.#number, n)
    } catch {
      // It is kept for the next listener.
    }
  }
}
