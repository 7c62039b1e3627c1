import { createHash } from 'node:crypto'
import type { Erasure, Writer } from '@allium/core'
import { erasureSubjects, tombstoneTtl } from '@allium/store-sql'
import type { Client } from './client.ts'

const maxReads = 5

/** Who was erased, by digests. What a run brings that began before is taken back behind the write: the tombstone stands before an erasure looks. */
export class ErasureLog {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  async add(scope: Erasure): Promise<void> {
    const tombstone = this.#tombstoneKey(erasureDigests(scope).at(-1) ?? '')
    await this.#client.command((redis) => redis.set(tombstone, '1', 'PX', tombstoneTtl))
  }

  /**
   * Compares milliseconds that passed, by the clock of Redis and by this process, and no two clocks. Where the run began while the reply was
   * on its way it is asked again; in the end it counts as older.
   */
  async isErased(by: Writer): Promise<boolean> {
    const tombstones = erasureDigests(by).map((subject) => this.#tombstoneKey(subject))
    for (let read = 1; ; read++) {
      const sinceStart = Date.now() - by.since
      const ttls = await Promise.all(tombstones.map((name) => this.#client.command((redis) => redis.pttl(name))))
      const sinceErasure = Math.min(...ttls.map((ms) => (ms > 0 ? tombstoneTtl - ms : Number.POSITIVE_INFINITY)))
      if (sinceErasure <= sinceStart) return true
      if (sinceErasure > Date.now() - by.since) return false
      if (read === maxReads) return true
    }
  }

  #tombstoneKey(subject: string): string {
    return this.#client.key(['erased', subject])
  }
}

/** Digests of a tenant, and of an owner in it. */
export function erasureDigests({ tenant, owner }: Erasure): string[] {
  return erasureSubjects({ tenant, owner }).map((subject) => createHash('sha256').update(subject).digest('base64url'))
}
