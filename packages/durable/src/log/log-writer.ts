import { type EventLog, isAlliumError, type RunKey, type Writer } from '@allium/core'
import type { Entry } from './entry.ts'

interface LogWriterOptions {
  onFenced?: () => void
  by?: Writer
}

/** Writes the events of one run into the log, as many at once as have come. */
export class LogWriter {
  readonly #log: EventLog
  readonly #run: RunKey
  readonly #epoch: number
  readonly #onFenced: () => void
  readonly #by: Writer | undefined
  #buffer: Entry[] = []
  #isScheduled = false
  /** When it writes again, by `performance.now()`. */
  #nextWriteAt = 0
  #writing: Promise<void> | undefined
  #failure: { error: unknown } | undefined

  /**
   * @param epoch that of who runs it: nobody writes behind one that has a newer
   * @param options.onFenced is called once the log takes no more events from here, because the run was deleted or taken over
   * @param options.by for whom the run is, and since when
   */
  constructor(log: EventLog, run: RunKey, epoch: number, { onFenced = () => {}, by }: LogWriterOptions = {}) {
    this.#log = log
    this.#run = run
    this.#epoch = epoch
    this.#onFenced = onFenced
    this.#by = by
  }

  /** Opens the run in the log, so that it can be read, and asked to stop. */
  open(): Promise<unknown> {
    return this.#log.append(this.#run, this.#epoch, [], this.#by && { by: this.#by })
  }

  /** What comes in one turn of the event loop, or soon behind what was written, is written as one: its readers are woken once. */
  push(entry: Entry): void {
    // Behind a gap nothing is written.
    if (this.#failure !== undefined) return
    this.#buffer.push(entry)
    if (this.#buffer.length >= maxBuffered) this.#flush()
    else this.#schedule()
  }

  /** What nobody has heard is given back first; then it ends. @throws what the log has thrown */
  async end(giveBack: (id: string) => void): Promise<void> {
    for (;;) {
      while (this.#buffer.length > 0 || this.#writing !== undefined) {
        this.#flush()
        await this.#writing
        if (this.#failure !== undefined) break
      }
      if (this.#failure !== undefined) throw this.#failure.error
      const { unheard } = await this.#log.append(this.#run, this.#epoch, [], { end: true, mustExist: true })
      if (unheard === undefined) return
      for (const { id } of unheard) if (id !== undefined) giveBack(id)
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

  /** What cannot be kept, as a function in an event of a layer, is left out. */
  async #append(entries: Entry[]): Promise<void> {
    try {
      await this.#log.append(this.#run, this.#epoch, entries, { mustExist: true })
    } catch (error) {
      if (!isAlliumError(error, 'state.invalid')) throw error
      if (entries.length > 1) for (const entry of entries) await this.#append([entry])
    }
  }
}

/** Events that wait at most. */
const maxBuffered = 64
/** Milliseconds between two writes: nobody sees them, and a turn of quick steps writes a quarter as often. */
const writeInterval = 5

/** Behind what has come in this turn of the event loop. */
const defer: (fn: () => void) => unknown =
  (globalThis as { setImmediate?: (fn: () => void) => unknown }).setImmediate ?? ((fn) => setTimeout(fn, 0))
