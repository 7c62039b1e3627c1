import { createHash } from 'node:crypto'
import type { Erasure, Writer } from '@allium/core'
import { erasureSubjects, tombstoneTtl } from '@allium/store-sql'
import type { Client } from './client.ts'

const maxReads = 5

/**
 * The log of erasures, by digest. Data of a run that began before an erasure is removed after the write, because the tombstone exists
 * before
 * the erasure scans.
 */
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
   * Compares elapsed milliseconds, by the clock of Redis and of this process, never two absolute times. If the run began while the reply
   * was
   * in transit, it reads again; in the end the run counts as older.
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

/** Returns the digests of a tenant, and of one of its owners. */
export function erasureDigests({ tenant, owner }: Erasure): string[] {
  return erasureSubjects({ tenant, owner }).map((subject) => createHash('sha256').update(subject).digest('base64url'))
}
