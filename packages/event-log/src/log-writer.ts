import { isAlliumError, type Writer } from '@allium/core'
import type { EventLog, RunKey } from '@allium/store'
import type { Entry } from './entry.ts'

interface LogWriterOptions {
  onFenced?: () => void
  by?: Writer
}

/** Writes the events of one run to the log, in batches. */
export class LogWriter {
  readonly #log: EventLog
  readonly #run: RunKey
  readonly #epoch: number
  readonly #onFenced: () => void
  readonly #by: Writer | undefined
  #buffer: Entry[] = []
  #isScheduled = false
  /** When the next write may happen, by `performance.now()`. */
  #nextWriteAt = 0
  #writing: Promise<void> | undefined
  #failure: { error: unknown } | undefined

  /**
   * @param epoch the epoch of this writer; the log rejects writes with an older epoch than the newest one
   * @param options.onFenced called once the log rejects further events because the run was deleted or taken over
   * @param options.by the owner of the run, and when it started
   */
  constructor(log: EventLog, run: RunKey, epoch: number, { onFenced = () => {}, by }: LogWriterOptions = {}) {
    this.#log = log
    this.#run = run
    this.#epoch = epoch
    this.#onFenced = onFenced
    this.#by = by
  }

  /** Opens the run in the log, so that it can be read and stopped. */
  open(): Promise<unknown> {
    return this.#log.append(this.#run, this.#epoch, [], this.#by && { by: this.#by })
  }

  /** Buffers an event. Events of one tick of the event loop, or soon after the last write, are written together, so readers wake once. */
  push(entry: Entry): void {
    // After a failed write nothing is written, so that the log has no gap.
    if (this.#failure !== undefined) return
    this.#buffer.push(entry)
    if (this.#buffer.length >= maxBuffered) this.#flush()
    else this.#schedule()
  }

  /** Returns undelivered messages, then ends the run in the log. @throws the log's error */
  async end(giveBack: (id: string) => void): Promise<void> {
    for (;;) {
      while (this.#buffer.length > 0 || this.#writing !== undefined) {
        this.#flush()
        await this.#writing
        if (this.#failure !== undefined) break
      }
      if (this.#failure !== undefined) throw this.#failure.error
      const { undelivered } = await this.#log.append(this.#run, this.#epoch, [], { end: true, mustExist: true })
      if (undelivered === undefined) return
      for (const { id } of undelivered) if (id !== undefined) giveBack(id)
    }
  }

  #schedule(): void {
    if (this.#isScheduled || this.#writing !== undefined || this.#buffer.length === 0) return
    this.#isScheduled = true
    const wait = this.#nextWriteAt - performance.now()
    if (wait <= 0 || this.#buffer.length >= maxBuffered) defer(this.#flush)
    else setTimeout(this.#flush, wait)
  }

  readonly #flush = (): void => {
    this.#isScheduled = false
    if (this.#buffer.length > 0) this.#writing ??= this.#write()
  }

  async #write(): Promise<void> {
    const entries = this.#buffer
    this.#buffer = []
    this.#nextWriteAt = performance.now() + writeInterval
    await this.#append(entries).catch((error) => {
      this.#failure = { error }
      if (isAlliumError(error, 'store.fenced')) this.#onFenced()
    })
    this.#writing = undefined
    if (this.#failure === undefined) this.#schedule()
  }

  /** Skips events that cannot be stored, such as a layer's event that contains a function. */
  async #append(entries: Entry[]): Promise<void> {
    try {
      await this.#log.append(this.#run, this.#epoch, entries, { mustExist: true })
    } catch (error) {
      if (!isAlliumError(error, 'state.invalid')) throw error
      if (entries.length > 1) for (const entry of entries) await this.#append([entry])
    }
  }
}

/** Number of buffered events that triggers a write. */
const maxBuffered = 64
/** Milliseconds between two writes. Readers do not notice the delay, and a turn of quick steps writes a quarter as often. */
const writeInterval = 5

/** Runs a function after the events of this tick of the event loop have arrived. */
const defer: (fn: () => void) => unknown =
  (globalThis as { setImmediate?: (fn: () => void) => unknown }).setImmediate ?? ((fn) => setTimeout(fn, 0))
