import { isAlliumError } from '@allium/core'
import { jsonLine } from '../json-line.ts'
import { type Digest, genesis, parseSealedLine, withHash } from './seal.ts'
import type { AuditSink } from './sink.ts'

/** The end of a chain. Keep it somewhere else, and `verify` finds what was cut off behind it. */
export interface AuditHead {
  /** How many records the chain has. */
  seq: number
  /** The hash of the last one. */
  hash: string
}

/** What is to be written. */
export interface AuditRecord {
  /** The same in each life of a run. */
  readonly key: string
  fields(): Promise<object>
}

/** How long somebody waits for the sink: gives the work, or a promise that rejects when it takes too long. */
export type ApplyTimeout = <T>(work: Promise<T>) => Promise<T>

/** Appends records, one after the other, each with the hash of the one before. */
export class Chain {
  readonly #sink: AuditSink
  readonly #digest: Digest
  #head: AuditHead | undefined
  #tail: Promise<unknown> = Promise.resolve()
  #pending = 0
  /** Records that could not be kept since the last one that was. */
  #lostCount = 0
  /** What the sink was last asked for. It may take longer than anybody waits. */
  #appending: Promise<unknown> = Promise.resolve()

  constructor(sink: AuditSink, digest: Digest) {
    this.#sink = sink
    this.#digest = digest
  }

  get head(): AuditHead | undefined {
    return this.#head && { ...this.#head }
  }

  /** Settles once the record is kept. `fields` is asked when its turn has come. */
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

  /** Settles once nothing waits to be written. */
  async flush(): Promise<void> {
    await this.#tail
    await this.#appending
  }

  /** Whether nothing is written, or waits to be. */
  get isIdle(): boolean {
    return this.#pending === 0
  }

  /** Where another process has written meanwhile, behind what that one wrote. */
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
          // Whether it was kept, the sink may know.
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
/** Of one record, where several processes write to one chain. */
const maxAttempts = 50
