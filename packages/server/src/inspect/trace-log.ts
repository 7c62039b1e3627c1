import { type Message, type SessionKey, sessionKeyOf } from '@allium/core'
import { haveFiles, withFileViews } from './files.ts'
import { plainJson } from './plain-json.ts'
import { RecentFiles } from './recent-files.ts'
import type { RecordedRun } from './recorded-run.ts'
import type { EventRecord, InspectRecord } from './records.ts'

/** A record as it is sent, with its run. */
export interface LoggedRecord {
  readonly seq: number
  /** A promise while the files of a request are being hashed. */
  json: string | Promise<string>
  readonly run: RecordedRun
}

export interface TraceLogOptions {
  /** Most records. */
  readonly maxRecords: number
  /** Most characters of all records. */
  readonly maxSize: number
}

/** The last records of all turns, in order. */
export class TraceLog {
  /** Differs for each process, whose positions mean nothing to another one. */
  readonly epoch = crypto.randomUUID()
  /** The files of events, until the store has them. */
  readonly files = new RecentFiles()
  readonly #limits: TraceLogOptions
  readonly #runs = new Map<string, RecordedRun>()
  #records: LoggedRecord[] = []
  #seq = 0
  /** Characters that were added since records were last removed. */
  #added = 0
  /** Called once at the next record. */
  #waiting: (() => void)[] = []

  constructor(limits: TraceLogOptions) {
    this.#limits = limits
  }

  /** Returns a run, and creates it for its first record. */
  run(key: SessionKey, turnId: string): RecordedRun {
    const name = JSON.stringify([sessionKeyOf({ sessionKey: key }), turnId])
    const run = this.#runs.get(name) ?? { key, turnId, openTurns: 0, isLogged: false, lastAt: 0, lastSeq: 0 }
    this.#runs.set(name, run)
    return run
  }

  add(run: RecordedRun, record: InspectRecord): void {
    const logged: LoggedRecord = { seq: ++this.#seq, json: jsonOf(record), run }
    run.lastAt = Date.now()
    run.lastSeq = logged.seq
    this.#records.push(logged)
    if (typeof logged.json === 'string') this.#added += logged.json.length
    else
      void logged.json.then((json) => {
        logged.json = json
        this.#added += json.length
      })
    // Removed in blocks, because each removal moves the rest.
    const { maxRecords, maxSize } = this.#limits
    if (this.#records.length > maxRecords * 1.1 || this.#added > maxSize * 0.1) this.#trim()
    const waiting = this.#waiting
    this.#waiting = []
    for (const resume of waiting) resume()
  }

  /** Returns at most `limit` records after a position. */
  after(seq: number, limit: number): readonly LoggedRecord[] {
    // Positions may have gaps, where records were forgotten.
    let [low, high] = [0, this.#records.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#records[middle] as LoggedRecord).seq > seq) high = middle
      else low = middle + 1
    }
    return this.#records.slice(low, low + limit)
  }

  /** Removes the records and files of the runs that were deleted. */
  forget(isDeleted: (run: RecordedRun) => boolean): void {
    this.#records = this.#records.filter(({ run }) => !isDeleted(run))
    this.files.forget(isDeleted)
    for (const [name, run] of this.#runs) if (isDeleted(run) && run.openTurns === 0) this.#runs.delete(name)
  }

  #trim(): void {
    const { maxRecords, maxSize } = this.#limits
    let first = this.#records.length
    for (let sum = 0; first > Math.max(0, this.#records.length - maxRecords); first--) {
      const { json } = this.#records[first - 1] as LoggedRecord
      sum += typeof json === 'string' ? json.length : 0
      if (sum > maxSize) break
    }
    this.#records = this.#records.slice(first)
    this.#added = 0
    const from = this.#records[0]?.seq ?? this.#seq + 1
    for (const [name, { lastSeq, openTurns }] of this.#runs)
      if (lastSeq < from && openTurns === 0) this.#runs.delete(name)
  }

  /** Resolves at the next record, or when the signal aborts. */
  next(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        signal.removeEventListener('abort', done)
        resolve()
      }
      signal.addEventListener('abort', done)
      this.#waiting.push(done)
      if (signal.aborted) done()
    })
  }
}

/** Serializes a record. Hashing the files of a request or of an answer takes a moment. */
function jsonOf(record: InspectRecord): string | Promise<string> {
  const messages = record.type === 'request' ? record.messages : record.type === 'event' ? fileOf(record) : []
  if (!haveFiles(messages)) return plainJson(record)
  return withFileViews(messages)
    .then((shown) => plainJson(record.type === 'event' ? withFile(record, shown) : { ...record, messages: shown }))
    .catch(() => plainJson(record))
}

/** Returns the file that an event has, as a message. */
function fileOf({ event }: EventRecord): Message[] {
  return event.type === 'file' ? [{ role: 'assistant', content: [event] } as unknown as Message] : []
}

function withFile(record: EventRecord, messages: readonly Message[]): object {
  const [event] = messages.flatMap(({ content }) => content as object[])
  return { ...record, event }
}
