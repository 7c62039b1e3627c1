import type { RunKey, RunSignal } from '@allium/store'
import type { RunHead, StoredSignal } from './event-table.ts'
import type { HeadObserver } from './poller.ts'
import type { ReaderSources } from './reader.ts'

/** Polls between two attempts to open a signal: about a second. */
const pollsPerRetry = 16

type SignalHandler = (signal: RunSignal) => void | Promise<void>

/** Delivers the signals of a run until another listener registers. */
export class SignalListener implements HeadObserver {
  readonly idle = true
  readonly run: RunKey
  readonly isNew: boolean
  readonly #sources: ReaderSources
  readonly #number: number
  readonly #onSignal: SignalHandler
  /** The number of the last delivered signal. */
  #lastDelivered = 0
  /** Earlier signals that could not be opened. */
  readonly #unopened = new Set<number>()
  /** Polls until the next attempt to open those. */
  #pollsUntilRetry = 0
  #delivering = false
  #stopped = false

  /** @param options.isNew whether this process has just opened the run, so that no signal waits for the listener */
  constructor(
    sources: ReaderSources,
    run: RunKey,
    { number, isNew }: { number: number; isNew: boolean },
    onSignal: SignalHandler,
  ) {
    this.#sources = sources
    this.run = run
    this.isNew = isNew
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

  /** Signals are stored, so they are delivered when the store is available again. */
  onError(): void {}

  /** A signal that cannot be opened does not delay the others and is retried later. */
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
      // The next poll tries again.
    } finally {
      this.#delivering = false
    }
  }

  /** Returns the stored signals, from the first one that was not delivered. */
  async #undelivered(): Promise<StoredSignal[]> {
    const after = Math.min(this.#lastDelivered, ...[...this.#unopened].map((n) => n - 1))
    const signals = await this.#sources.table.signals(this.run, after)
    for (const n of this.#unopened) if (signals.every((stored) => stored.n !== n)) this.#unopened.delete(n)
    return signals
  }

  #isNew(n: number): boolean {
    return n > this.#lastDelivered || this.#unopened.has(n)
  }

  /** Returns undefined for a signal that cannot be delivered now. */
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
      // It stays stored for the next listener.
    }
  }
}
