import type { Erasure, Writer } from '@allium/core'
/** Remembers the erasures in this process, to reject writes of runs that began before. */
export class MemoryErasures {
  /** The time of erasure, by tenant and owner. */
  readonly #at = new Map<string, number>()

  add({ tenant, owner }: Erasure, now: number): void {
    for (const [name, at] of this.#at) if (at <= now - ttl) this.#at.delete(name)
    this.#at.set(JSON.stringify([tenant, owner]), now)
  }

  fences(by: Writer | undefined): boolean {
    if (by === undefined || this.#at.size === 0) return false
    const { tenant, owner, since } = by
    return [undefined, owner].some((one) => since <= (this.#at.get(JSON.stringify([tenant, one])) ?? -1))
  }
}

/** How long an erasure is remembered, in milliseconds. */
const ttl = 7 * 24 * 3_600_000
