import type { Message } from '../messages/message.ts'
import type { Capability } from '../seams/capability.ts'
import type { SessionKey } from '../seams/session-store.ts'

/** A session whose texts are read after their run. */
export interface ShownSession {
  readonly sessionKey: SessionKey
  /** What was said in it, as it is stored. Read only where a layer asks for it. */
  history(): readonly Message[] | Promise<readonly Message[]>
}

/** What a layer's `shows()` is given. */
export interface ShowContext extends ShownSession {
  readonly agent: { readonly name: string }
  /** What the agent's layers provide. */
  find<T>(capability: Capability<T>): T | undefined
}

/** A stored text as the owner of the session reads it. */
export type Show = (text: string) => string
