import type { SessionKey } from '@allium/core'
import type { EventScope } from '@allium/store'

/** How long an erasure is remembered, in milliseconds. */
const tombstoneTtl = 7 * 24 * 3_600_000

/** Rows that belong to runs, and are erased with their sessions, owners and tenants. */
export class RunRows<Row extends { readonly key: SessionKey }> {
  readonly #nameOf: (row: Row) => string
  #rows = new Map<string, Row>()
  /** When each tenant, owner or session was erased. */
  readonly #erasedAt = new Map<string, number>()

  /** @param nameOf returns what a row is found by */
  constructor(nameOf: (row: Row) => string) {
    this.#nameOf = nameOf
  }

  get size(): number {
    return this.#rows.size
  }

  get(name: string): Row | undefined {
    return this.#rows.get(name)
  }

  set(row: Row): void {
    this.#rows.set(this.#nameOf(row), row)
  }

  values(): Iterable<Row> {
    return this.#rows.values()
  }

  /** Returns how many rows were deleted. */
  delete(isDeleted: (row: Row) => boolean): number {
    const before = this.#rows.size
    for (const [name, row] of this.#rows) if (isDeleted(row)) this.#rows.delete(name)
    return before - this.#rows.size
  }

  /** Deletes the rows of a session, an owner or a tenant, and remembers when. */
  erase(scope: EventScope, at: number): void {
    for (const [name, before] of this.#erasedAt) if (before <= at - tombstoneTtl) this.#erasedAt.delete(name)
    this.#erasedAt.set(JSON.stringify(partsOf(scope)), at)
    this.forget(scope)
  }

  forget(scope: EventScope): void {
    const parts = partsOf(scope)
    this.delete(({ key }) => {
      const ofKey = partsOf(key)
      return parts.every((part, i) => part === ofKey[i])
    })
  }

  /** Moves the rows of a session whose agent was renamed. */
  move(from: SessionKey, to: SessionKey): void {
    this.forget(to)
    const isMoved = ({ key }: Row) => nameOfParts(key) === nameOfParts(from)
    const rows = [...this.#rows.values()].map((row) => (isMoved(row) ? { ...row, key: { ...to } } : row))
    this.#rows = new Map(rows.map((row) => [this.#nameOf(row), row]))
  }

  isErasedSince({ tenant, owner, agent, sessionId }: SessionKey, since: number): boolean {
    return [[tenant], [tenant, owner], [tenant, owner, agent, sessionId]].some(
      (scope) => since <= (this.#erasedAt.get(JSON.stringify(scope)) ?? Number.NEGATIVE_INFINITY),
    )
  }
}

/** Returns a name that no other parts have. */
export function nameOfParts(key: SessionKey, ...more: string[]): string {
  return JSON.stringify([...partsOf(key), ...more])
}

function partsOf(scope: EventScope): string[] {
  const { tenant, owner, agent, sessionId } = scope as Partial<SessionKey> & { tenant: string }
  return [tenant, owner, agent, sessionId].filter((part) => part !== undefined)
}
