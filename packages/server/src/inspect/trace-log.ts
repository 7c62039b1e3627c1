import type { Message, SessionKey } from '@allium/core'
import { haveFiles, withFileViews } from './files.ts'
import { plainJson } from './plain-json.ts'
import { RecentFiles } from './recent-files.ts'
import type { EventRecord, InspectRecord } from './records.ts'

/** A record as it is sent, with the agent and the owner of its turn. */
export interface LoggedRecord {
  readonly seq: number
  /** A promise while the files of a request are being hashed. */
  json: string | Promise<string>
  readonly agent: string
  readonly tenant: string
  readonly owner: string
}

/** The last records of all turns, in order. */
export class TraceLog {
  /** Differs for each process, whose positions mean nothing to another one. */
  readonly epoch = crypto.randomUUID()
  /** The files of events, until the store has them. */
  readonly files = new RecentFiles()
  readonly #limit: number
  #records: LoggedRecord[] = []
  #seq = 0
  /** Called once at the next record. */
  #waiting: (() => void)[] = []

  constructor(limit: number) {
    this.#limit = limit
  }

  add({ agent, tenant, owner }: Pick<SessionKey, 'agent' | 'tenant' | 'owner'>, record: InspectRecord): void {
    const logged: LoggedRecord = { seq: ++this.#seq, json: jsonOf(record), agent, tenant, owner }
    if (typeof logged.json !== 'string') void logged.json.then((json) => Object.assign(logged, { json }))
    this.#records.push(logged)
    // Removed in blocks, because each removal moves the rest.
    if (this.#records.length > this.#limit * 1.1) this.#records = this.#records.slice(-this.#limit)
    const waiting = this.#waiting
    this.#waiting = []
    for (const resume of waiting) resume()
  }

  /** Returns at most `limit` records after a position. */
  after(seq: number, limit: number): readonly LoggedRecord[] {
    const first = this.#records[0]?.seq ?? 0
    const from = Math.max(0, seq + 1 - first)
    return this.#records.slice(from, from + limit)
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
