import { isAlliumError } from '@allium/core'
import { jsonLine } from '../json-line.ts'
import { type Digest, genesis, sealed, unseal } from './seal.ts'
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
export type Patience = <T>(work: Promise<T>) => Promise<T>

/** Appends records, one after the other, each with the hash of the one before. */
export class Chain {
  readonly #sink: AuditSink
  readonly #digest: Digest
  #head: AuditHead | undefined
  #tail: Promise<unknown> = Promise.resolve()
  #waiting = 0
  /** Records that could not be kept since the last one that was. */
  #lost = 0
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
  append(record: AuditRecord, patience: Patience): Promise<void> {
    if (this.#waiting >= mostWaiting) {
      this.#lost++
      return Promise.reject(new Error(`The audit sink is ${mostWaiting} records behind.`))
    }
    this.#waiting++
    const written = this.#tail.then(() => this.#write(record, patience)).finally(() => this.#waiting--)
    this.#tail = written.catch(() => {})
    return written
  }

  /** Settles once nothing waits to be written. */
  async flush(): Promise<void> {
    await this.#tail
    await this.#appending
  }

  /** Whether nothing is written, or waits to be. */
  get isIdle(): boolean {
    return this.#waiting === 0
  }

  /** Where another process has written meanwhile, behind what that one wrote. */
  async #write(record: AuditRecord, patience: Patience): Promise<void> {
    for (let tries = 1; ; tries++)
      try {
        return await this.#writeOnce(record, patience)
      } catch (error) {
        if (!isAlliumError(error, 'store.conflict') || tries === mostTries) throw error
        this.#lost--
      }
  }

  async #writeOnce(record: AuditRecord, patience: Patience): Promise<void> {
    const { line, head, lost } = await this.#prepare(record, patience).catch((error) => {
      this.#lost++
      throw error
    })
    const appending = Promise.resolve(line)
      .then((line) => this.#sink.append(line, record.key))
      .then(
        (kept) => {
          if (kept === 'known') return
          this.#head = head
          this.#lost -= lost
        },
        (error) => {
          this.#lost++
          // Whether it was kept, the sink may know.
          if (this.#sink.last !== undefined) this.#head = undefined
          throw error
        },
      )
    this.#appending = appending.catch(() => {})
    await patience(appending)
  }

  async #prepare(
    { key, fields }: AuditRecord,
    patience: Patience,
  ): Promise<{ line: string; head: AuditHead; lost: number }> {
    await patience(this.#appending)
    this.#head ??= await patience(this.#begin())
    const seq = this.#head.seq + 1
    const lost = this.#lost
    const text = jsonLine({ seq, key, ...(await fields()), ...(lost > 0 && { lost }), prev: this.#head.hash })
    const hash = await this.#digest(text)
    return { line: sealed(text, hash), head: { seq, hash }, lost }
  }

  async #begin(): Promise<AuditHead> {
    const line = await this.#sink.last?.()
    if (line === undefined) return { seq: 0, hash: genesis }
    const last = unseal(line)
    if (last === undefined)
      throw new Error('The last line of the audit sink is no audit record. See to it with verify(), and begin another.')
    return { seq: last.seq, hash: last.hash }
  }
}

const mostWaiting = 10_000
/** Of one record, where several processes write to one chain. */
const mostTries = 50
