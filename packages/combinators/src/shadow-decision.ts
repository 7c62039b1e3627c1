import type { ScopeName } from '@allium/core'

/** What a shadowed layer would have done in one entry of one hook. */
export interface ShadowDecision {
  layer: string
  scope: ScopeName
  /**
   * `skip`: answered without calling the inside. `throw`: threw its own error. `change`: see `changes`. `pass`: none of these,
   * including errors from inside.
   */
  decision: 'pass' | 'skip' | 'deny' | 'suspend' | 'block' | 'abort' | 'throw' | 'change'
  /** The reason of a deny, block, abort or stop; the message of an error. */
  reason?: string
  /** The error that it threw. */
  error?: unknown
  /**
   * The changes that it would have made, without contents: `state guard:spent`, `history`, `messages`, `response`, `event audit:entry`, …
   */
  changes: readonly string[]
  sessionId?: string
  turnId?: string
  callId?: string
}
