import type { Capability } from '../seams/capability.ts'
import type { SessionKey } from '../seams/session-store.ts'

/** What a layer's `shows()` is given: the session whose stored texts are read. */
export interface DisplayContext {
  readonly agent: { readonly name: string }
  readonly sessionKey: SessionKey
  /** What the agent's layers provide. */
  find<T>(capability: Capability<T>): T | undefined
}

/** A stored text as the owner of the session reads it. */
export type DisplayTransform = (text: string) => string
