import type { RunKey, RunSignal } from '@allium/core'
import type { RunHead, StoredSignal } from './event-table.ts'
import type { HeadObserver } from './poller.ts'
import type { ReaderSources } from './reader.ts'

/** Looks from one try to open a signal to the next: about a second. */
const pollsPerRetry = 16

type SignalHandler = (signal: RunSignal) => void | Promise<void>

/** Who is told what is asked of a run, until another one listens. */
export class SignalListener implements HeadObserver {
  readonly idle = true
  readonly run: RunKey
  readonly #sources: ReaderSources
  readonly #number: number
  readonly #onSignal: SignalHandler
  /** The last signal that it was told. */
  #lastDelivered = 0
  /** Signals before that one which could not be opened. */
  readonly #unopened = new Set<number>()
  /** Looks until it tries those again. */
  #pollsUntilRetry = 0
  #delivering = false
  #stopped = false

  constructor(sources: ReaderSources, run: RunKey, number: number, onSignal: SignalHandler) {
    this.#sources = sources
    this.run = run
    this.#number = number
    this.#onSignal = onSignal
    sources.poller.add(this)
  }

  stop(): void {
    this.#sources.poller.delete(this)
    this.#stopped = true
  }

  onHead(head: RunHead | undefined): boolean {
    if (head === undefined || head.listener !== this.#number) {
      this.stop()
      return false
    }
    const isDue = head.lastSignal > this.#lastDelivered || (this.#unopened.size > 0 && --this.#pollsUntilRetry <= 0)
    if (!isDue || this.#delivering || this.#stopped) return false
    this.#delivering = true
    this.#pollsUntilRetry = pollsPerRetry
    void this.#deliver(head.lastSignal)
    return true
  }

  /** What is asked is kept: it is told as soon as the store can be asked again. */
  onError(): void {}

  /** One that cannot be opened holds up no other, and is tried again later. */
  async #deliver(last: number): Promise<void> {
    try {
      for (const stored of await this.#undelivered()) {
        if (!this.#isNew(stored.n)) continue
        const signal = await this.#open(stored)
        if (this.#stopped) return
        this.#lastDelivered = Math.max(this.#lastDelivered, stored.n)
        if (signal !== undefined) void this.#handle(stored.n, signal)
      }
      this.#lastDelivered = Math.max(this.#lastDelivered, last)
    } catch {
      // The next look tries again.
    } finally {
      this.#delivering = false
    }
  }

  /** What is kept of the run's signals, from the first on that it was not told. */
  async #undelivered(): Promise<StoredSignal[]> {
    const after = Math.min(this.#lastDelivered, ...[...this.#unopened].map((n) => n - 1))
    const signals = await this.#sources.table.signals(this.run, after)
    for (const n of this.#unopened) if (signals.every((stored) => stored.n !== n)) this.#unopened.delete(n)
    return signals
  }

  #isNew(n: number): boolean {
    return n > this.#lastDelivered || this.#unopened.has(n)
  }

  /** Undefined for one that is not to be told now. */
  async #open(stored: StoredSignal): Promise<RunSignal | undefined> {
    try {
      const signal = await this.#sources.sealer.openSignal(this.run, stored)
      this.#unopened.delete(stored.n)
      return signal
    } catch {
      this.#unopened.add(stored.n)
      return undefined
    }
  }

  async #handle(n: number, signal: RunSignal): Promise<void> {
    try {
      await this.#onSignal(signal)
      await this.#sources.table.acknowledge(this.run, this.#number, n)
    } catch {
      // It is kept for the next listener.
    }
  }
}
