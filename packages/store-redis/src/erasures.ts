import { createHash } from 'node:crypto'
import type { Erasure, Writer } from '@allium/core'
import { subjectsOf, tombstoneLife } from '@allium/store-sql'
import type { Client } from './client.ts'

const mostTries = 5

/** Who was erased, by digests. What a run brings that began before is taken back behind the write: the tombstone stands before an erasure looks. */
export class Erasures {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  async add(of: Erasure): Promise<void> {
    const name = this.#nameOf(subjectsIn(of).at(-1) ?? '')
    await this.#client.ask((redis) => redis.set(name, '1', 'PX', tombstoneLife))
  }

  /**
   * Compares milliseconds that passed, by the clock of Redis and by this process, and no two clocks. Where the run began while the reply was
   * on its way it is asked again; in the end it counts as older.
   */
  async isErased(by: Writer): Promise<boolean> {
    const names = subjectsIn(by).map((subject) => this.#nameOf(subject))
    for (let tries = 1; ; tries++) {
      const before = Date.now() - by.since
      const left = await Promise.all(names.map((name) => this.#client.ask((redis) => redis.pttl(name))))
      const passed = Math.min(...left.map((ms) => (ms > 0 ? tombstoneLife - ms : Number.POSITIVE_INFINITY)))
      if (passed <= before) return true
      if (passed > Date.now() - by.since) return false
      if (tries === mostTries) return true
    }
  }

  #nameOf(subject: string): string {
    return this.#client.key(['erased', subject])
  }
}

/** Digests of a tenant, and of an owner in it. */
export function subjectsIn({ tenant, owner }: Erasure): string[] {
  return subjectsOf({ tenant, owner }).map((subject) => createHash('sha256').update(subject).digest('base64url'))
}
