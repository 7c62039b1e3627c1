import { isAlliumError } from '@allium/core'
import { jsonLine } from '../json-line.ts'
import { type Digest, genesis, parseSealedLine, withHash } from './seal.ts'
import type { AuditLine, AuditSink } from './sink.ts'

/** The end of a chain. Stored elsewhere, it lets `verify` detect that later records were cut off. */
export interface AuditHead {
  /** The number of records in the chain. */
  seq: number
  /** The hash of the last record. */
  hash: string
}

/** A record to be written. */
export interface AuditRecord {
  /** The same each time the run is restarted. */
  readonly key: string
  fields(): Promise<object>
}

/** Limits how long a caller waits for the sink: returns the work, or a promise that rejects when it takes too long. */
export type ApplyTimeout = <T>(work: Promise<T>) => Promise<T>

/** A record whose caller waits. */
interface PendingRecord extends AuditRecord {
  readonly applyTimeout: ApplyTimeout
  resolve(): void
  reject(error: unknown): void
}

/** Appends records in their order, each with the hash of the previous one. Records that wait for a slow sink are stored together. */
export class Chain {
  readonly #sink: AuditSink
  readonly #digest: Digest
  #head: AuditHead | undefined
  /** The records that are being written, then those that wait. */
  readonly #queue: PendingRecord[] = []
  #writing: Promise<void> | undefined
  /** Records lost since the last one that was stored. */
  #lostCount = 0
  /** The last append to the sink. It may take longer than its caller waits. */
  #appending: Promise<unknown> = Promise.resolve()

  constructor(sink: AuditSink, digest: Digest) {
    this.#sink = sink
    this.#digest = digest
  }

  get head(): AuditHead | undefined {
    return this.#head && { ...this.#head }
  }

  /** Resolves once the record is stored. Calls `fields` when it is the record's turn. */
  append(record: AuditRecord, applyTimeout: ApplyTimeout): Promise<void> {
    if (this.#queue.length >= maxPending) {
      this.#lostCount++
      return Promise.reject(new Error(`The audit sink is ${maxPending} records behind.`))
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ ...record, applyTimeout, resolve, reject })
      this.#writing ??= this.#writeQueue()
    })
  }

  /** Resolves once nothing is waiting to be written. */
  async flush(): Promise<void> {
    await this.#writing
    await this.#appending
  }

  /** Whether no record is being written or waiting. */
  get isIdle(): boolean {
    return this.#queue.length === 0
  }

  async #writeQueue(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#nextBatch()
      const settle = await this.#write(batch).then(
        () => (one: PendingRecord) => one.resolve(),
        (error) => (one: PendingRecord) => one.reject(error),
      )
      for (const one of this.#queue.splice(0, batch.length)) settle(one)
    }
    // In the same tick as the last look at the queue: a record that is added later starts the next writing.
    this.#writing = undefined
  }

  /** Returns the first records of the queue whose keys differ. */
  #nextBatch(): PendingRecord[] {
    const max = this.#sink.appendAll === undefined ? 1 : maxBatch
    const keys = new Set<string>()
    const end = this.#queue.findIndex(({ key }) => keys.size === max || keys.size === keys.add(key).size)
    return this.#queue.slice(0, end === -1 ? undefined : end)
  }

  /** Retries after the records of another process if those were written first. */
  async #write(batch: readonly PendingRecord[]): Promise<void> {
    let missing = batch
    for (let attempt = 1; missing.length > 0; attempt++)
      try {
        const known = await this.#writeOnce(missing)
        missing = known.length === 0 ? [] : missing.filter(({ key }) => !known.includes(key))
      } catch (error) {
        if (!isAlliumError(error, 'store.conflict') || attempt === maxAttempts) throw error
        this.#lostCount -= missing.length
      }
  }

  /** Returns the keys that the sink already has. If there are any, it has stored nothing. */
  async #writeOnce(batch: readonly PendingRecord[]): Promise<readonly string[]> {
    const { applyTimeout } = batch[0] as PendingRecord
    const { lines, head, lost } = await this.#prepare(batch, applyTimeout).catch((error) => {
      this.#lostCount += batch.length
      throw error
    })
    const appending = this.#send(lines).then(
      (known) => {
        if (known.length > 0) return known
        this.#head = head
        this.#lostCount -= lost
        return known
      },
      (error) => {
        this.#lostCount += batch.length
        // The records may have been stored anyway, so the next one reads the head from the sink again.
        if (this.#sink.last !== undefined) this.#head = undefined
        throw error
      },
    )
    this.#appending = appending.catch(() => {})
    return applyTimeout(appending)
  }

  async #send(lines: readonly AuditLine[]): Promise<readonly string[]> {
    const [first] = lines as [AuditLine]
    if (this.#sink.appendAll !== undefined && lines.length > 1) return this.#sink.appendAll(lines)
    return (await this.#sink.append(first.line, first.key)) === 'known' ? [first.key] : []
  }

  async #prepare(
    batch: readonly AuditRecord[],
    applyTimeout: ApplyTimeout,
  ): Promise<{ lines: AuditLine[]; head: AuditHead; lost: number }> {
    await applyTimeout(this.#appending)
    let head = this.#head ?? (await applyTimeout(this.#begin()))
    this.#head = head
    const lost = this.#lostCount
    const lines: AuditLine[] = []
    for (const { key, fields } of batch) {
      const seq = head.seq + 1
      const lostFields = lost > 0 && lines.length === 0 ? { lost } : {}
      const text = jsonLine({ seq, key, ...(await fields()), ...lostFields, prev: head.hash })
      const hash = await this.#digest(text)
      lines.push({ line: withHash(text, hash), key })
      head = { seq, hash }
    }
    return { lines, head, lost }
  }

  async #begin(): Promise<AuditHead> {
    const line = await this.#sink.last?.()
    if (line === undefined) return { seq: 0, hash: genesis }
    const lastRecord = parseSealedLine(line)
    if (lastRecord === undefined)
      throw new Error('The last line of the audit sink is not an audit record. Start a new file or stream.')
    return { seq: lastRecord.seq, hash: lastRecord.hash }
  }
}

const maxPending = 10_000
/** Most records that are stored together. */
const maxBatch = 50
/** Attempts per record when several processes write to one chain. */
const maxAttempts = 50
