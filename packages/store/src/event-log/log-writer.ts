import { isAlliumError, type Writer } from '@allium/core'
import type { EventLog, Logged, RunKey } from '@allium/store'
import { endOfTick, timeOf } from './defer.ts'
import type { Entry } from './entry.ts'

interface LogWriterOptions {
  onFenced?: () => void
  /** Called with the position of the last stored event. */
  onLogged?: (seq: number) => void
  by?: Writer
  /**
   * Milliseconds between two writes. Readers in other processes wait for the next one, and a turn of quick steps is written less
   * often. @default 5
   */
  interval?: number
  /**
   * Milliseconds. Writes of all runs with this option happen at multiples of it, so that a process writes to the log a few times and
   * not for each run. It is part of the interval. @default each run is written as soon as it may be
   */
  slot?: number
}

/** Writes the events of one run to the log, in batches. */
export class LogWriter {
  readonly #log: EventLog
  readonly #run: RunKey
  readonly #epoch: number
  readonly #onFenced: () => void
  readonly #onLogged: (seq: number) => void
  readonly #by: Writer | undefined
  readonly #interval: number
  readonly #slot: number | undefined
  #buffer: Entry[] = []
  /** The time of the next write, while there is one. */
  #due: Promise<void> | undefined
  /** When the next write may happen, by `performance.now()`. */
  #nextWriteAt = 0
  #writing: Promise<void> | undefined
  #failure: { error: unknown } | undefined

  /**
   * @param epoch the epoch of this writer; the log rejects writes with an older epoch than the newest one
   * @param options.onFenced called once the log rejects further events because the run was deleted or taken over
   * @param options.by the owner of the run, and when it started
   */
  constructor(log: EventLog, run: RunKey, epoch: number, options: LogWriterOptions = {}) {
    const { onFenced = () => {}, onLogged = () => {}, by, interval = 5, slot } = options
    this.#log = log
    this.#run = run
    this.#epoch = epoch
    this.#onFenced = onFenced
    this.#onLogged = onLogged
    this.#by = by
    this.#interval = interval - (slot ?? 0)
    this.#slot = slot
  }

  /** Opens the run in the log, so that it can be read and stopped. */
  async open(): Promise<void> {
    await this.#log.append(this.#run, this.#epoch, [], this.#by && { by: this.#by })
  }

  /** Waits one interval before the first write, too. */
  delayFirstWrite(): void {
    this.#nextWriteAt = performance.now() + this.#interval
  }

  /** Writes at the end of this tick of the event loop, for an event that a reader waits for. */
  hurry(): void {
    this.#nextWriteAt = 0
    this.#due = undefined
    this.#schedule()
  }

  /** Buffers an event. Events of one tick of the event loop, or soon after the last write, are written together, so readers wake once. */
  push(entry: Entry): void {
    // After a failed write nothing is written, so that the log has no gap.
    if (this.#failure !== undefined) return
    this.#buffer.push(entry)
    if (this.#buffer.length >= maxBuffered) this.#flush()
    else this.#schedule()
  }

  /**
   * Rejects undelivered messages, then ends the run in the log, together with its last events. @throws the log's error
   */
  async end(reject: (id: string) => void): Promise<void> {
    for (;;) {
      while (this.#writing !== undefined) await this.#writing
      if (this.#failure !== undefined) throw this.#failure.error
      this.#due = undefined
      const entries = this.#buffer
      this.#buffer = []
      const { seq, undelivered } = await this.#appendLast(entries)
      if (undelivered === undefined) return this.#onLogged(seq)
      // Nothing was appended.
      this.#buffer = [...entries, ...this.#buffer]
      for (const { id } of undelivered) if (id !== undefined) reject(id)
    }
  }

  async #appendLast(entries: Entry[]): Promise<Logged> {
    try {
      return await this.#log.append(this.#run, this.#epoch, entries, { end: true, mustExist: true })
    } catch (error) {
      if (!isAlliumError(error, 'state.invalid')) throw error
      await this.#append(entries)
      return this.#appendLast([])
    }
  }

  #schedule(): void {
    if (this.#due !== undefined || this.#writing !== undefined || this.#buffer.length === 0) return
    const now = performance.now()
    const slot = this.#slot
    const at = slot === undefined ? this.#nextWriteAt : Math.ceil(Math.max(now, this.#nextWriteAt) / slot) * slot
    const due = now < at && this.#buffer.length < maxBuffered ? timeOf(at) : endOfTick()
    this.#due = due
    void due.then(() => this.#due === due && this.#flush())
  }

  #flush(): void {
    this.#due = undefined
    if (this.#buffer.length > 0) this.#writing ??= this.#write()
  }

  async #write(): Promise<void> {
    const entries = this.#buffer
    this.#buffer = []
    this.#nextWriteAt = performance.now() + this.#interval
    try {
      await this.#append(entries)
    } catch (error) {
      this.#failure = { error }
      if (isAlliumError(error, 'store.fenced')) this.#onFenced()
    }
    this.#writing = undefined
    if (this.#failure === undefined) this.#schedule()
  }

  /** Skips events that cannot be stored, such as a layer's event that contains a function. */
  async #append(entries: Entry[]): Promise<void> {
    try {
      const { seq } = await this.#log.append(this.#run, this.#epoch, entries, { mustExist: true })
      if (seq !== undefined) this.#onLogged(seq)
    } catch (error) {
      if (!isAlliumError(error, 'state.invalid')) throw error
      if (entries.length > 1) for (const entry of entries) await this.#append([entry])
    }
  }
}

/** Number of buffered events that triggers a write. */
const maxBuffered = 64
