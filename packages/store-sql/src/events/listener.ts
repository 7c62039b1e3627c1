import type { RunKey, RunSignal } from '@allium/core'
import type { RunHead } from './event-table.ts'
import type { Watcher } from './poller.ts'
import type { ReaderSources } from './reader.ts'

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
  #telling = false

  constructor(sources: ReaderSources, run: RunKey, number: number, hear: Hear) {
    this.#sources = sources
    this.run = run
    this.#number = number
    this.#hear = hear
    sources.poller.add(this)
  }

  stop(): void {
    this.#sources.poller.delete(this)
    this.#told = Number.POSITIVE_INFINITY
  }

  see(head: RunHead | undefined): boolean {
    if (head === undefined || head.listener !== this.#number) {
      this.stop()
      return false
    }
    if (head.asked <= this.#told || this.#telling) return false
    this.#telling = true
    void this.#tell(head.asked)
    return true
  }

  /** What is asked is kept: it is told as soon as the store can be asked again. */
  fail(): void {}

  /** One that cannot be opened holds up no other: it stays for a listener who can. */
  async #tell(last: number): Promise<void> {
    const { table, sealer } = this.#sources
    try {
      for (const asked of await table.asked(this.run, this.#told)) {
        if (asked.n <= this.#told) continue
        const signal = await sealer.asked(this.run, asked).catch(() => undefined)
        if (asked.n <= this.#told) return
        this.#told = asked.n
        if (signal !== undefined) void this.#deal(asked.n, signal)
      }
      this.#told = Math.max(this.#told, last)
    } catch {
      // The next look tries again.
    } finally {
      this.#telling = false
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
