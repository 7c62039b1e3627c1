import { fail } from './problem.ts'

/** How many of something one process holds at once. */
export interface Share {
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
export interface Place {
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
  readonly #what: string
  readonly #share: Share
  readonly #users = new Map<string, User>()
  readonly #tenants = new Map<string, number>()
  #held = 0

  /** @param what names what is held, in the plural, for error messages */
  constructor(what: string, share: Share) {
    this.#what = what
    this.#share = share
  }

  get held(): number {
    return this.#held
  }

  /** @throws AlliumError `server.limit` where the user or the tenant holds its share; `server.full` where the process holds all */
  take({ tenant, owner }: Holder, evict?: () => void): Place {
    const { total, perTenant, perUser } = this.#share
    const name = JSON.stringify([tenant, owner])
    const own = () => this.#users.get(name)?.entries.size ?? 0
    if (own() >= perUser && !this.#evictOf([this.#users.get(name)])) throw this.#over('You hold', perUser)
    if (this.#ofTenant(tenant) >= perTenant && !this.#evictOf(this.#heavier(own(), tenant)))
      throw this.#over('Your organization holds', perTenant)
    if (this.#held >= total && !this.#evictOf(this.#heavierTenant(tenant) ?? this.#heavier(own(), tenant)))
      throw fail('server.full', `This process holds ${total} ${this.#what}, as many as it takes. Try again later.`)
    return this.#add(name, tenant, evict)
  }

  #add(name: string, tenant: string, evict: (() => void) | undefined): Place {
    const user = this.#users.get(name) ?? { name, tenant, entries: new Set() }
    this.#users.set(name, user)
    const entry = { user, evict }
    user.entries.add(entry)
    this.#tenants.set(tenant, this.#ofTenant(tenant) + 1)
    this.#held++
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
    const left = this.#ofTenant(tenant) - 1
    if (left === 0) this.#tenants.delete(tenant)
    else this.#tenants.set(tenant, left)
    this.#held--
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
  #heavier(than: number, tenant: string): User[] {
    const users = [...this.#users.values()].filter((user) => user.tenant === tenant && user.entries.size > than)
    return users.sort((a, b) => b.entries.size - a.entries.size)
  }

  /** The users of the tenant that holds the most, if that is more than this one holds. */
  #heavierTenant(tenant: string): User[] | undefined {
    const [heaviest] = [...this.#tenants].sort(([, a], [, b]) => b - a)
    if (heaviest === undefined || heaviest[1] <= this.#ofTenant(tenant)) return undefined
    return this.#heavier(0, heaviest[0])
  }

  #ofTenant(tenant: string): number {
    return this.#tenants.get(tenant) ?? 0
  }

  #over(who: string, most: number) {
    return fail('server.limit', `${who} ${most} ${this.#what} in this process, as many as one may. Try again later.`)
  }
}
