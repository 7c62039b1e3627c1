/** Where sealed bytes stand; bound to them, so that no row can be put in the place of another. */
export interface EncryptionContext {
  readonly tenant: string
  /** Names the row: kind, owner, session, turn. */
  readonly row: string
}

/**
 * Envelope encryption of what a store keeps: messages, state, records, events. In clear stay ids, times, status and usage.
 * Deleting a tenant's key erases what was sealed with it.
 */
export interface Encryption {
  /** Encrypts, with the place as associated data. */
  seal(bytes: Uint8Array, context: EncryptionContext): Uint8Array | Promise<Uint8Array>
  /**
   * Returns the bytes that were sealed at this place.
   *
   * Throw `new AlliumError('store.sealed', …)` when they can never be opened: the key was deleted, or the bytes do not authenticate. The
   * `OperationError` of WebCrypto and the authentication error of `node:crypto` count as that, too. Any other error means "not now": the
   * operation fails with `store.unavailable`, and what could not be opened is tried again later.
   */
  open(bytes: Uint8Array, context: EncryptionContext): Uint8Array | Promise<Uint8Array>
  /** A keyed digest; of several the first is written, and any matches, for rotation. @default plain SHA-256 */
  mac?(bytes: Uint8Array, scope: { tenant: string }): Macs | Promise<Macs>
}

type Macs = Uint8Array | readonly Uint8Array[]
