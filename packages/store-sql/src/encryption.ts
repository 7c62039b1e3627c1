/** The location of sealed bytes. The bytes are bound to it, so that rows cannot be swapped. */
export interface EncryptionContext {
  readonly tenant: string
  /** Names the row: kind, owner, session, turn. */
  readonly row: string
}

/**
 * Envelope encryption of stored content: messages, state, records, events. Ids, times, status and usage stay in clear text.
 * Deleting a tenant's key erases everything that was sealed with it.
 */
export interface Encryption {
  /** Encrypts, with the context as associated data. */
  seal(bytes: Uint8Array, context: EncryptionContext): Uint8Array | Promise<Uint8Array>
  /**
   * Returns the bytes that were sealed in this context.
   *
   * Throw `new AlliumError('store.sealed', …)` when they can never be opened: the key was deleted, or the bytes do not authenticate. The
   * `OperationError` of WebCrypto and the authentication error of `node:crypto` have the same effect. Any other error means "not now":
   * the operation fails with `store.unavailable`, and opening is retried later.
   */
  open(bytes: Uint8Array, context: EncryptionContext): Uint8Array | Promise<Uint8Array>
  /** Returns a keyed digest. Return several for rotation: the first is written, and any of them matches. @default plain SHA-256 */
  mac?(bytes: Uint8Array, scope: { tenant: string }): Macs | Promise<Macs>
}

type Macs = Uint8Array | readonly Uint8Array[]
