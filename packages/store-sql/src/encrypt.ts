/** Where sealed bytes stand; bound to them, so that no row can be put in the place of another. */
export interface SealedPlace {
  readonly tenant: string
  /** Names the row: kind, owner, session, turn. */
  readonly row: string
}

/**
 * Envelope encryption of what a store keeps: messages, state, records, events. In clear stay ids, times, status and usage.
 * Deleting a tenant's key erases what was sealed with it.
 */
export interface Encrypt {
  /** Encrypts, with the place as associated data. */
  seal(bytes: Uint8Array, place: SealedPlace): Uint8Array | Promise<Uint8Array>
  /** The bytes that were sealed at this place; throws where they are others, or the key is gone. */
  open(bytes: Uint8Array, place: SealedPlace): Uint8Array | Promise<Uint8Array>
  /** A keyed digest; of several the first is written, and any matches, for rotation. @default plain SHA-256 */
  mac?(bytes: Uint8Array, of: { tenant: string }): MacOf | Promise<MacOf>
}

type MacOf = Uint8Array | readonly Uint8Array[]
