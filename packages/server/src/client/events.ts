import type { CallTypes, StreamEvent, Usage } from '@allium/core'
import type { RunError } from '@allium/durable/log'

/** A call that waits for a decision. */
export type PendingCall<K extends CallTypes = CallTypes> = K['pending']

/**
 * An event of a run, or `run:error`, the last one of a run that has failed. Those that layers tell of themselves come too, with
 * types such as `guard:budget`: they are no part of this union, so that what is has one meaning each.
 */
export type ClientEvent<K extends CallTypes = CallTypes> = StreamEvent<K> | RunError

/** What a run came to. */
export interface Answer<K extends CallTypes = CallTypes, O = string> {
  readonly sessionId: string
  readonly turnId: string
  readonly status: 'completed' | 'stopped' | 'blocked' | 'suspended' | 'aborted'
  /** The text of the last step. */
  readonly text: string
  /** The answer: its text, or with the option `output` what its schema made of it; null where it has none. */
  readonly output: O | null
  readonly usage: Usage
  /** Why it was stopped, blocked or aborted. */
  readonly reason?: string
  readonly code?: string
  /** The calls that wait for a decision. */
  readonly pending: readonly PendingCall<K>[]
}

/** A run: read its events, or await its answer, or both. It is asked for once, whatever becomes of connections. */
export interface ClientRun<K extends CallTypes = CallTypes, O = string>
  extends AsyncIterable<ClientEvent<K>>,
    PromiseLike<Answer<K, O>> {}
