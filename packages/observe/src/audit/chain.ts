import { isAlliumError } from '@allium/core'
import { jsonLine } from '../json-line.ts'
import { type Digest, genesis, parseSealedLine, withHash } from './seal.ts'
import type { AuditSink } from './sink.ts'

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

/** Appends records one after the other, each with the hash of the previous one. */
export class Chain {
  readonly #sink: AuditSink
  readonly #digest: Digest
  #head: AuditHead | undefined
  #tail: Promise<unknown> = Promise.resolve()
  #pending = 0
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
    if (this.#pending >= maxPending) {
      this.#lostCount++
      return Promise.reject(new Error(`The audit sink is ${maxPending} records behind.`))
    }
    this.#pending++
    const pendingWrite = this.#tail.then(() => this.#write(record, applyTimeout)).finally(() => this.#pending--)
    this.#tail = pendingWrite.catch(() => {})
    return pendingWrite
  }

  /** Resolves once nothing is waiting to be written. */
  async flush(): Promise<void> {
    await this.#tail
    await this.#appending
  }

  /** Whether no record is being written or waiting. */
  get isIdle(): boolean {
    return this.#pending === 0
  }

  /** Retries after the record of another process if that one was written first. */
  async #write(record: AuditRecord, applyTimeout: ApplyTimeout): Promise<void> {
    for (let attempt = 1; ; attempt++)
      try {
        return await this.#writeOnce(record, applyTimeout)
      } catch (error) {
        if (!isAlliumError(error, 'store.conflict') || attempt === maxAttempts) throw error
        this.#lostCount--
      }
  }

  async #writeOnce(record: AuditRecord, applyTimeout: ApplyTimeout): Promise<void> {
    const { line, head, lost } = await this.#prepare(record, applyTimeout).catch((error) => {
      this.#lostCount++
      throw error
    })
    const appending = Promise.resolve(line)
      .then((line) => this.#sink.append(line, record.key))
      .then(
        (outcome) => {
          if (outcome === 'known') return
          this.#head = head
          this.#lostCount -= lost
        },
        (error) => {
          this.#lostCount++
          // The record may have been stored anyway, so the next one reads the head from the sink again.
          if (this.#sink.last !== undefined) this.#head = undefined
          throw error
        },
      )
    this.#appending = appending.catch(() => {})
    await applyTimeout(appending)
  }

  async #prepare(
    { key, fields }: AuditRecord,
    applyTimeout: ApplyTimeout,
  ): Promise<{ line: string; head: AuditHead; lost: number }> {
    await applyTimeout(this.#appending)
    this.#head ??= await applyTimeout(this.#begin())
    const seq = this.#head.seq + 1
    const lost = this.#lostCount
    const text = jsonLine({ seq, key, ...(await fields()), ...(lost > 0 && { lost }), prev: this.#head.hash })
    const hash = await this.#digest(text)
    return { line: withHash(text, hash), head: { seq, hash }, lost }
  }

  async #begin(): Promise<AuditHead> {
    const line = await this.#sink.last?.()
    if (line === undefined) return { seq: 0, hash: genesis }
    const lastRecord = parseSealedLine(line)
    if (lastRecord === undefined)
      throw new Error('The last line of the audit sink is no audit record. See to it with verify(), and begin another.')
    return { seq: lastRecord.seq, hash: lastRecord.hash }
  }
}

const maxPending = 10_000
/** Attempts per record when several processes write to one chain. */
const maxAttempts = 50
