import { followSignal } from '@allium/core'
import type { Entry } from '@allium/event-log'
import type { EventReader } from '@allium/store'
import { type EntryReader, readEntries, toRunEntry } from './entry-reader.ts'

/** How many events readers may be ahead of the log. A reader that comes back in another process is ahead of it by no more than that. */
export const maxUnlogged = 1000

/**
 * The events of a run for its readers in this process. They get each event at once, before it is in the log. A reader that is too slow
 * reads the events that are already in the log from there, so that this process keeps only those that are not.
 */
export class LiveEvents {
  readonly #turnId: string
  readonly #readLog: (after: number) => EventReader
  /** The events that are not known to be in the log. */
  #entries: Entry[] = []
  /** The position of the last event that is known to be in the log. */
  #logged = 0
  #ended = false
  #waiting: (() => void)[] = []

  constructor(turnId: string, readLog: (after: number) => EventReader) {
    this.#turnId = turnId
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

  /** Returns a reader from after a position. Its `next()` rejects with the error of `ended`. */
  read(after: number, signal: AbortSignal, ended: Promise<void>): EntryReader {
    let seq = after
    let fromLog: { source: EventReader; reader: EntryReader } | undefined
    let wake = () => {}
    const closeLog = () => {
      void fromLog?.source.return?.()
      fromLog = undefined
    }
    const leave = () => {
      closeLog()
      wake()
    }
    const release = followSignal(signal, leave)
    const advance = <E extends { seq?: number } | undefined>(entry: E): E => {
      seq = entry?.seq ?? seq
      return entry
    }
    const take = () => {
      if (signal.aborted) return undefined
      if (seq < this.#logged) return fromLog && advance(fromLog.reader.take())
      if (fromLog !== undefined) closeLog()
      const entry = seq < this.seq ? this.#entries[seq - this.#logged] : undefined
      return entry && toRunEntry(this.#turnId, { seq: ++seq, event: entry })
    }
    const next = async () => {
      while (!signal.aborted) {
        const entry = take()
        if (entry !== undefined) return entry
        if (seq < this.#logged) {
          fromLog ??= this.#openLog(seq)
          const stored = advance(await fromLog.reader.next())
          if (stored !== undefined) return stored
        } else if (!this.#ended) {
          await new Promise<void>((resolve) => {
            wake = resolve
            this.#waiting.push(resolve)
          })
          continue
        }
        break
      }
      release()
      if (!signal.aborted) await ended
      return undefined
    }
    return { take, next }
  }

  #openLog(seq: number) {
    const source = this.#readLog(seq)
    return { source, reader: readEntries(this.#turnId, source) }
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}
