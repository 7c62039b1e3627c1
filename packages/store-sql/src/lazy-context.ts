import type { EncryptionContext } from './encryption.ts'

/**
 * A location whose text is made on use, because only encryption and errors need it. A class, because a getter of a literal stays in
 * memory until a full collection, with the whole request that it can reach.
 */
export class LazyContext implements EncryptionContext {
  readonly tenant: string
  readonly #parts: () => readonly unknown[]

  constructor(tenant: string, parts: () => readonly unknown[]) {
    this.tenant = tenant
    this.#parts = parts
  }

  get row(): string {
    return JSON.stringify(this.#parts())
  }
}
