import { eventsFenced } from '../conflicts.ts'
import type { EventReader, Logged, RunKey } from '../event-log.ts'
import { RunReader } from './run-reader.ts'
import { RunSignals } from './run-signals.ts'

/** The events of one run, and the signals sent to it. */
export class LoggedRun {
  readonly signals = new RunSignals()
  ended = false
  /** Whether the log has forgotten the run. */
  removed = false
  /** Event n is at index n - 1. */
  readonly #texts: string[] = []
  /** Callbacks of readers that wait for the next event. */
  readonly #readers = new Set<() => void>()
  #epoch = Number.NEGATIVE_INFINITY

  constructor(readonly run: RunKey) {}

  /** Returns an ended run without events. */
  static empty(run: RunKey): LoggedRun {
    const logged = new LoggedRun(run)
    logged.ended = true
    return logged
  }

  get seq(): number {
    return this.#texts.length
  }

  /** @param texts events as JSON */
  append(epoch: number, texts: readonly string[], end: boolean): Logged {
    if (epoch < this.#epoch || (epoch === this.#epoch && this.ended))
      throw eventsFenced(this.run, epoch === this.#epoch ? 'ended' : 'taken')
    this.#epoch = epoch
    const undelivered = end ? this.signals.takeSteers() : []
    if (undelivered.length > 0) return { undelivered }
    for (const text of texts) this.#texts.push(text)
    this.ended = end
    for (const wake of this.#readers) wake()
    return { seq: this.seq }
  }

  /** Deletes all events and ends the readers. */
  delete(): void {
    this.#texts.length = 0
    this.ended = true
    for (const wake of this.#readers) wake()
  }

  read(after: number, signal: AbortSignal | undefined): EventReader {
    return new RunReader(this.#texts, after, {
      signal,
      ended: () => this.ended,
      readers: this.#readers,
    })
  }
}
