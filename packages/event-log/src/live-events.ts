import { followSignal } from '@allium/core'
import type { EventReader, LoggedEvent } from '@allium/store'
import type { Entry } from './entry.ts'

/** How many events readers may be ahead of the log. A reader that comes back in another process is ahead of it by no more than that. */
export const maxUnlogged = 1000

/**
 * The events of a run for its readers in this process. They get each event at once, before it is in the log. A reader that is too slow
 * reads the events that are already in the log from there, so that this process keeps only those that are not.
 */
export class LiveEvents {
  readonly #readLog: (after: number) => EventReader
  /** The events that are not known to be in the log. */
  #entries: Entry[] = []
  /** The position of the last event that is known to be in the log. */
  #logged = 0
  #ended = false
  #waiting: (() => void)[] = []

  constructor(readLog: (after: number) => EventReader) {
    this.#readLog = readLog
  }

  /** The position of the last event that readers can have. */
  get seq(): number {
    return this.#logged + Math.min(this.#entries.length, maxUnlogged)
  }

  push(entries: readonly Entry[]): void {
    if (this.#ended) return
    this.#entries.push(...entries)
    this.#wake()
  }

  /** Forgets the events that the log has. */
  logged(seq: number): void {
    this.#entries.splice(0, seq - this.#logged)
    this.#logged = Math.max(this.#logged, seq)
    this.#wake()
  }

  /** Lets the readers finish. */
  end(): void {
    this.#ended = true
    this.#wake()
  }

  /** Ends the readers of a deleted run, who get nothing more of it. */
  cut(): void {
    this.#entries = []
    this.end()
  }

  /** Returns a reader from after a position. At the end, its `next()` rejects with the error of `ended`. */
  read(after: number, signal: AbortSignal, ended: Promise<void>): Pick<Required<EventReader>, 'next' | 'take'> {
    let seq = after
    let log: EventReader | undefined
    let wake = () => {}
    const closeLog = () => {
      void log?.return?.()
      log = undefined
    }
    const release = followSignal(signal, () => {
      closeLog()
      wake()
    })
    const advance = (event: LoggedEvent | undefined) => {
      seq = event?.seq ?? seq
      return event
    }
    const take = () => {
      if (signal.aborted) return undefined
      if (seq < this.#logged) return advance(log?.take?.())
      if (log !== undefined) closeLog()
      const event = seq < this.seq ? this.#entries[seq - this.#logged] : undefined
      return event && { seq: ++seq, event }
    }
    const wait = async (): Promise<LoggedEvent | undefined> => {
      while (!signal.aborted) {
        const event = take()
        if (event !== undefined) return event
        if (seq < this.#logged) {
          log ??= this.#readLog(seq)
          return advance((await log.next()).value)
        }
        if (this.#ended) return undefined
        await new Promise<void>((resolve) => {
          wake = resolve
          this.#waiting.push(resolve)
        })
      }
      return undefined
    }
    const next = async (): Promise<IteratorResult<LoggedEvent, undefined>> => {
      const value = await wait()
      if (value !== undefined) return { value, done: false }
      release()
      if (!signal.aborted) await ended
      return { value, done: true }
    }
    return { take, next }
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}
