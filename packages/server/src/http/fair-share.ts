import { requestError } from './problem.ts'

/** How many units of a resource one process may hold at once. */
export interface Quota {
  /** For all users together. Requests above it are answered with 503. */
  readonly total: number
  /** For one tenant. The tenant's requests above it are answered with 429. */
  readonly perTenant: number
  /** For one user of a tenant. The user's requests above it are answered with 429. */
  readonly perUser: number
}

/** The user who holds a permit. */
export interface Holder {
  readonly tenant: string
  readonly owner: string
}

/** A permit for one unit of a resource. */
export interface Permit {
  /** Marks it as just used, so that the user's other permits are idler. */
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
 * A limit that no tenant and no user can use up for the others. A permit with `evict` may be evicted: the idlest one of the user who
 * holds the most.
 */
export class FairShare {
  readonly #resource: string
  readonly #quota: Quota
  readonly #users = new Map<string, User>()
  readonly #tenants = new Map<string, number>()
  #inUse = 0

  /** @param resource the plural name of the resource, for error messages */
  constructor(resource: string, quota: Quota) {
    this.#resource = resource
    this.#quota = quota
  }

  get inUse(): number {
    return this.#inUse
  }

  /** @throws AlliumError `server.limit` if the share of the user or tenant is used up; `server.full` if the total is used up */
  acquire({ tenant, owner }: Holder, evict?: () => void): Permit {
    const { total, perTenant, perUser } = this.#quota
    const name = JSON.stringify([tenant, owner])
    const usedByUser = () => this.#users.get(name)?.entries.size ?? 0
    if (usedByUser() >= perUser && !this.#evictOf([this.#users.get(name)])) throw this.#limitError('You have', perUser)
    if (this.#usedByTenant(tenant) >= perTenant && !this.#evictOf(this.#usersAbove(usedByUser(), tenant)))
      throw this.#limitError('Your organization has', perTenant)
    if (
      this.#inUse >= total &&
      !this.#evictOf(this.#usersOfHeaviestTenant(tenant) ?? this.#usersAbove(usedByUser(), tenant))
    )
      throw requestError(
        'server.full',
        `This process already has ${total} ${this.#resource}, which is its limit. Try again later.`,
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

  /** Evicts the idlest evictable permit of the first user who has one. */
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

  /** Returns the users of a tenant who hold more than the threshold, the heaviest first. */
  #usersAbove(threshold: number, tenant: string): User[] {
    const users = [...this.#users.values()].filter((user) => user.tenant === tenant && user.entries.size > threshold)
    return users.sort((a, b) => b.entries.size - a.entries.size)
  }

  /** Returns the users of the tenant that holds the most, if that is more than this one holds. */
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
      `${subject} ${limit} ${this.#resource} in this process, which is the limit. Try again later.`,
    )
  }
}
