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

/** Appends records, one after the other, each with the hash of the one before. */
export class Chain {
  readonly #sink: AuditSink
  readonly #digest: Digest
  #head: AuditHead | undefined
  #tail: Promise<unknown> = Promise.resolve()
  #waiting = 0
  /** Records that could not be kept since the last one that was. */
  #lost = 0

  constructor(sink: AuditSink, digest: Digest) {
    this.#sink = sink
    this.#digest = digest
  }

  get head(): AuditHead | undefined {
    return this.#head && { ...this.#head }
  }

  /** Settles once the record is kept. `fields` is asked when its turn has come. */
  append(fields: () => Promise<object>): Promise<void> {
    if (this.#waiting >= mostWaiting) {
      this.#lost++
      return Promise.reject(new Error(`The audit sink is ${mostWaiting} records behind.`))
    }
    this.#waiting++
    const written = this.#tail.then(async () => this.#write(await fields())).finally(() => this.#waiting--)
    this.#tail = written.catch(() => this.#lost++)
    return written
  }

  /** Settles once nothing waits to be written. */
  async flush(): Promise<void> {
    await this.#tail
  }

  async #write(fields: object): Promise<void> {
    const { seq, hash: prev } = (this.#head ??= await this.#begin())
    const lost = this.#lost
    const text = jsonLine({ seq: seq + 1, ...fields, ...(lost > 0 && { lost }), prev })
    const hash = await this.#digest(text)
    try {
      await this.#sink.append(sealed(text, hash))
    } catch (error) {
      // Whether it was kept, the sink may know.
      if (this.#sink.last !== undefined) this.#head = undefined
      throw error
    }
    this.#lost -= lost
    this.#head = { seq: seq + 1, hash }
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
