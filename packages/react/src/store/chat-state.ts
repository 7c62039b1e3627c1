import type { CallTypes } from '@allium/core'
import type { ClientInput, PendingCall } from '@allium/server/client'
import type { ChatError } from './chat-error.ts'
import type { ChatMessage } from './chat-message.ts'

/**
 * What the session does.
 *
 * - `loading`: the history is being read
 * - `idle`: the session waits for an input
 * - `sending`: an input was sent, and no event was received yet
 * - `streaming`: a run is active
 * - `stopping`: `stop()` was called, and the run has not ended yet
 * - `suspended`: calls in `pending` wait for a decision
 * - `failed`: `error` has the reason; `retry()` continues
 */
export type ChatStatus = 'loading' | 'idle' | 'sending' | 'streaming' | 'stopping' | 'suspended' | 'failed'

/** An input that waits for the end of the active run, or a message that was sent to the active run. */
export interface QueuedInput {
  readonly id: string
  readonly input: ClientInput
  readonly mode: 'queue' | 'steer'
}

/** A snapshot of a session. It is immutable: each change makes a new one. */
export interface ChatState<K extends CallTypes = CallTypes> {
  readonly messages: readonly ChatMessage<K>[]
  readonly status: ChatStatus
  /** The calls that wait for a decision, or for the result of a tool that the client runs. */
  readonly pending: readonly PendingCall<K>[]
  /** Inputs that were not sent yet, first in, first out. */
  readonly queue: readonly QueuedInput[]
  /** The text in the composer. It survives a reload of the page. */
  readonly draft: string
  readonly error: ChatError | undefined
}
