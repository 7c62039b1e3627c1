import { createHash } from 'node:crypto'
import type { Erasure, Writer } from '@allium/core'
import { subjectsOf, tombstoneLife } from '@allium/store-sql'
import type { Client } from './client.ts'

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

  /** Compares milliseconds that passed, by the clock of Redis and by this process, and no two clocks. */
  async isErased(by: Writer): Promise<boolean> {
    const age = Date.now() - by.since
    const names = subjectsIn(by).map((subject) => this.#nameOf(subject))
    const left = await Promise.all(names.map((name) => this.#client.ask((redis) => redis.pttl(name))))
    return left.some((ms) => ms > 0 && tombstoneLife - ms <= age)
  }

  #nameOf(subject: string): string {
    return this.#client.key(['erased', subject])
  }
}

/** Digests of a tenant, and of an owner in it. */
export function subjectsIn({ tenant, owner }: Erasure): string[] {
  return subjectsOf({ tenant, owner }).map((subject) => createHash('sha256').update(subject).digest('base64url'))
}
