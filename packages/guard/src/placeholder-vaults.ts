import { type DisplayContext, sessionKeyOf } from '@allium/core'
import { sharedStore, type Vault } from '@allium/store'
import { LRUCache } from 'lru-cache'
import { Placeholders, type VaultContext } from './placeholders.ts'

/** Stores the values of placeholders, by session: in your own store, encrypted as the content requires. */
export interface PiiVault extends Vault {}

/** The placeholders of recent sessions. */
export class PlaceholderVaults {
  readonly #layer: string
  readonly #vault: Vault | undefined
  #cache: LRUCache<string, Placeholders | Promise<Placeholders>> | undefined

  constructor(layer: string, vault: Vault | undefined) {
    this.#layer = layer
    this.#vault = vault
  }

  /** Returns the vault outside of this process, if there is one. */
  vaultFor(ctx: Pick<VaultContext, 'find'>): Vault | undefined {
    return this.#vault ?? ctx.find(sharedStore)?.vault
  }

  /**
   * Returns the placeholders of a session, shared by all callers; a promise while they are loaded. A new turn reads the vault again,
   * because another process may have run the last one.
   */
  get(ctx: VaultContext, { isNewTurn = false } = {}): Placeholders | Promise<Placeholders> {
    const key = this.#keyOf(ctx)
    // A size instead of `max`, which would allocate the memory of all sessions at once.
    this.#cache ??= new LRUCache({
      maxSize: 10_000,
      sizeCalculation: () => 1,
      ttl: 24 * 3_600_000,
      updateAgeOnGet: true,
    })
    const cache = this.#cache
    const vault = this.vaultFor(ctx)
    const known = isNewTurn && vault !== undefined ? undefined : cache.get(key)
    if (known === undefined) {
      const opening = Placeholders.open(key, vault, ctx)
      cache.set(key, opening)
      opening.then(
        (placeholders) => cache.peek(key) === opening && cache.set(key, placeholders),
        () => cache.delete(key),
      )
      return opening
    }
    if (!isNewTurn) return known
    return known instanceof Promise
      ? known.then((placeholders) => placeholders.advancePast(ctx.history))
      : known.advancePast(ctx.history)
  }

  /** Returns the placeholders of a session that no run here has opened. It only reads, so that a running run keeps its own. */
  async read(ctx: DisplayContext): Promise<Placeholders | undefined> {
    const key = this.#keyOf(ctx)
    const vault = this.vaultFor(ctx)
    return vault === undefined ? this.#cache?.get(key) : Placeholders.open(key, vault)
  }

  #keyOf(ctx: Pick<VaultContext, 'sessionKey'>): string {
    return `${this.#layer}:${sessionKeyOf(ctx)}`
  }
}
