import type { CallTypes, StreamEvent, Usage } from '@allium/core'
import type { RunError } from '@allium/store/event-log'

/** A pending call: it waits for a decision. */
export type PendingCall<K extends CallTypes = CallTypes> = K['pending']

/**
 * An event of a run, or `run:error`, the last event of a failed run. Events of layers are received too, with types such as
 * `guard:budget`. They are not part of this union, so that each of its types has one meaning.
 */
export type ClientEvent<K extends CallTypes = CallTypes> = StreamEvent<K> | RunError

/** The result of a run. */
export interface Answer<K extends CallTypes = CallTypes, O = string> {
  readonly sessionId: string
  readonly turnId: string
  readonly status: 'completed' | 'stopped' | 'blocked' | 'suspended' | 'aborted'
  /** The text of the last step. */
  readonly text: string
  /** The answer: its text, or with the option `output` the value that its schema returned; null if it has none. */
  readonly output: O | null
  readonly usage: Usage
  /** Why it was stopped, blocked or aborted. */
  readonly reason?: string | undefined
  readonly code?: string | undefined
  /** The pending calls. */
  readonly pending: readonly PendingCall<K>[]
}

/** A run: read its events, or await its answer, or both. It is requested once, even if connections are lost. */
export interface ClientRun<K extends CallTypes = CallTypes, O = string>
  extends AsyncIterable<ClientEvent<K>>,
    Pick<Promise<Answer<K, O>>, 'then' | 'catch' | 'finally'> {}
