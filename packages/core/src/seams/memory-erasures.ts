import type { Erasure, Writer } from './writer.ts'

/** Who was erased in this process: what runs bring that began before is refused. */
export class MemoryErasures {
  /** When, by tenant and owner. */
  readonly #at = new Map<string, number>()

  add({ tenant, owner }: Erasure, now: number): void {
    for (const [name, at] of this.#at) if (at <= now - known) this.#at.delete(name)
    this.#at.set(JSON.stringify([tenant, owner]), now)
  }

  fences(by: Writer | undefined): boolean {
    if (by === undefined || this.#at.size === 0) return false
    const { tenant, owner, since } = by
    return [undefined, owner].some((one) => since <= (this.#at.get(JSON.stringify([tenant, one])) ?? -1))
  }
}

/** Milliseconds for which an erasure is known. */
const known = 7 * 24 * 3_600_000
