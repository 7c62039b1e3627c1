import type { Clock, Erasure, SessionKey, StoredTurn } from '@allium/core'
import type { Outbox, OutboxRecord } from '../session-store.ts'
import { ownCopy } from './copy.ts'

interface StoredEntry {
  readonly record: OutboxRecord
  readonly owner: string
  /** When it was added, in monotonic time. */
  readonly since: number
  /** The time until which a consumer has taken it; Infinity once the consumer is done. */
  readonly until: Map<string, number>
}

export interface OutboxOptions {
  /** The consumers of records. A record is deleted once all of them are done with it. @default none: deleted after `recordRetention` */
  consumers?: readonly string[] | undefined
  /** How long a record is kept at most, in milliseconds. @default 30 days */
  recordRetention?: number | undefined
}

const month = 30 * 24 * 60 * 60 * 1000

/** The outbox of the memory store. */
export class MemoryOutbox implements Outbox {
  readonly #clock: Clock
  readonly #consumers: readonly string[]
  readonly #keep: number
  readonly #kept = new Map<string, StoredEntry>()

  constructor(clock: Clock, { consumers = [], recordRetention = month }: OutboxOptions) {
    this.#clock = clock
    this.#consumers = consumers
    this.#keep = recordRetention
  }

  add({ tenant, owner }: SessionKey, { turnId, records }: StoredTurn): void {
    const since = this.#clock.monotonic()
    for (const record of records)
      this.#kept.set(record.id, { record: { ...record, tenant, turnId }, owner, since, until: new Map() })
  }

  erase(of: Erasure): void {
    for (const [id, { record, owner }] of this.#kept)
      if (record.tenant === of.tenant && (of.owner ?? owner) === owner) this.#kept.delete(id)
  }

  async claim(consumer: string, limit: number, ms: number): Promise<OutboxRecord[]> {
    this.#drop()
    const now = this.#clock.monotonic()
    const free = [...this.#kept.values()].filter(({ until }) => (until.get(consumer) ?? 0) <= now)
    const taken = free.slice(0, limit)
    for (const { until } of taken) until.set(consumer, now + ms)
    return taken.map(({ record }) => ownCopy(record))
  }

  async done(consumer: string, ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const entry = this.#kept.get(id)
      entry?.until.set(consumer, Number.POSITIVE_INFINITY)
      if (entry !== undefined && this.#isDone(entry)) this.#kept.delete(id)
    }
  }

  #isDone({ until }: StoredEntry): boolean {
    const isDone = (consumer: string) => until.get(consumer) === Number.POSITIVE_INFINITY
    return this.#consumers.length > 0 && this.#consumers.every(isDone)
  }

  #drop(): void {
    const before = this.#clock.monotonic() - this.#keep
    for (const [id, { since }] of this.#kept) {
      if (since > before) return
      this.#kept.delete(id)
    }
  }
}
