import { requestError } from './problem.ts'

/** How many of something one process holds at once. */
export interface Quota {
  /** For everybody together. Beyond it requests are answered with 503. */
  readonly total: number
  /** For one tenant. Beyond it the tenant's requests are answered with 429. */
  readonly perTenant: number
  /** For one user of a tenant. Beyond it the user's requests are answered with 429. */
  readonly perUser: number
}

/** The user who holds something. */
export interface Holder {
  readonly tenant: string
  readonly owner: string
}

/** One of the things that a user holds. */
export interface Permit {
  /** It was used just now: others of this user are idler. */
  touch(): void
  release(): void
}

interface Entry {
  readonly user: User
  readonly evict: (() => void) | undefined
}
interface User {
  readonly name: string
  readonly tenant: string
  /** The idlest first. */
  readonly entries: Set<Entry>
}

/**
 * A bound that no tenant and no user can use up for the others. A place with `evict` may be taken away from its user: the idlest one of
 * the user who holds the most.
 */
export class FairShare {
  readonly #resource: string
  readonly #quota: Quota
  readonly #users = new Map<string, User>()
  readonly #tenants = new Map<string, number>()
  #inUse = 0

  /** @param resource names what is held, in the plural, for error messages */
  constructor(resource: string, quota: Quota) {
    this.#resource = resource
    this.#quota = quota
  }

  get inUse(): number {
    return this.#inUse
  }

  /** @throws AlliumError `server.limit` where the user or the tenant holds its share; `server.full` where the process holds all */
  acquire({ tenant, owner }: Holder, evict?: () => void): Permit {
    const { total, perTenant, perUser } = this.#quota
    const name = JSON.stringify([tenant, owner])
    const usedByUser = () => this.#users.get(name)?.entries.size ?? 0
    if (usedByUser() >= perUser && !this.#evictOf([this.#users.get(name)])) throw this.#limitError('You hold', perUser)
    if (this.#usedByTenant(tenant) >= perTenant && !this.#evictOf(this.#usersAbove(usedByUser(), tenant)))
      throw this.#limitError('Your organization holds', perTenant)
    if (
      this.#inUse >= total &&
      !this.#evictOf(this.#usersOfHeaviestTenant(tenant) ?? this.#usersAbove(usedByUser(), tenant))
    )
      throw requestError(
        'server.full',
        `This process holds ${total} ${this.#resource}, as many as it takes. Try again later.`,
      )
    return this.#add(name, tenant, evict)
  }

  #add(name: string, tenant: string, evict: (() => void) | undefined): Permit {
    const user = this.#users.get(name) ?? { name, tenant, entries: new Set() }
    this.#users.set(name, user)
    const entry = { user, evict }
    user.entries.add(entry)
    this.#tenants.set(tenant, this.#usedByTenant(tenant) + 1)
    this.#inUse++
    return {
      touch: () => {
        if (user.entries.delete(entry)) user.entries.add(entry)
      },
      release: () => this.#release(entry),
    }
  }

  #release(entry: Entry): void {
    const { name, tenant, entries } = entry.user
    if (!entries.delete(entry)) return
    if (entries.size === 0) this.#users.delete(name)
    const remaining = this.#usedByTenant(tenant) - 1
    if (remaining === 0) this.#tenants.delete(tenant)
    else this.#tenants.set(tenant, remaining)
    this.#inUse--
  }

  /** Takes the idlest place of the first user who has one that may be taken. */
  #evictOf(users: readonly (User | undefined)[]): boolean {
    for (const user of users)
      for (const entry of user?.entries ?? []) {
        if (entry.evict === undefined) continue
        this.#release(entry)
        entry.evict()
        return true
      }
    return false
  }

  /** The users of a tenant who hold more than this, the heaviest first. */
  #usersAbove(threshold: number, tenant: string): User[] {
    const users = [...this.#users.values()].filter((user) => user.tenant === tenant && user.entries.size > threshold)
    return users.sort((a, b) => b.entries.size - a.entries.size)
  }

  /** The users of the tenant that holds the most, if that is more than this one holds. */
  #usersOfHeaviestTenant(tenant: string): User[] | undefined {
    const [heaviest] = [...this.#tenants].sort(([, a], [, b]) => b - a)
    if (heaviest === undefined || heaviest[1] <= this.#usedByTenant(tenant)) return undefined
    return this.#usersAbove(0, heaviest[0])
  }

  #usedByTenant(tenant: string): number {
    return this.#tenants.get(tenant) ?? 0
  }

  #limitError(subject: string, limit: number) {
    return requestError(
      'server.limit',
      `${subject} ${limit} ${this.#resource} in this process, as many as one may. Try again later.`,
    )
  }
}
