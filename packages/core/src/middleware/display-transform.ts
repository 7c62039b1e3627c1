import type { Capability } from '../ports/capability.ts'
import type { SessionKey } from '../ports/session-store.ts'

/** The parameter of a layer's `display()`: the session whose stored texts are displayed. */
export interface DisplayContext {
  readonly agent: { readonly name: string }
  readonly sessionKey: SessionKey
  /** Looks up a capability of the agent's layers. */
  find<T>(capability: Capability<T>): T | undefined
}

/** Turns a stored text into the text that the owner of the session sees. */
export type DisplayTransform = (text: string) => string
