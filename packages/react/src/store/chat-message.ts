import type { CallTypes } from '@allium/core'
import type { PendingCall } from '@allium/server/client'

/**
 * Where a message stands.
 *
 * - `sending`: sent, and not confirmed by the server yet
 * - `unsent`: the request failed; `retry()` sends it again
 * - `streaming`: the answer is being received
 * - `suspended`: the answer continues after the pending calls are decided
 * - `stopped`, `blocked`, `failed`: the answer ended early; `reason` tells why, if the server sent a reason
 */
export type MessageStatus = 'done' | 'sending' | 'unsent' | 'streaming' | 'suspended' | 'stopped' | 'blocked' | 'failed'

/** A message of a session, for display. */
export interface ChatMessage<K extends CallTypes = CallTypes> {
  readonly id: string
  readonly role: 'user' | 'assistant' | 'system'
  readonly status: MessageStatus
  readonly reason?: string
  readonly parts: readonly MessagePart<K>[]
}

export interface TextPart {
  readonly type: 'text'
  readonly text: string
}

export interface ReasoningPart {
  readonly type: 'reasoning'
  readonly text: string
}

export interface FilePart {
  readonly type: 'file'
  readonly mediaType: string
  /** A data URL, or a link that needs the headers of the client. */
  readonly url: string
  /** The link leads to the server of the session. Other links can come from the model. */
  readonly own?: true
}

export interface SourcePart {
  readonly type: 'source'
  readonly url?: string
  readonly title?: string
}

/** A message of the user that was delivered while the answer was written. */
export interface SteerPart {
  readonly type: 'steer'
  readonly id: string
  readonly text: string
}

/**
 * Where a tool call stands.
 *
 * - `input`: the model is writing the arguments; `args` is undefined
 * - `running`: the tool runs
 * - `pending`: the call waits for a decision about `call`, or for the result of a tool that the client runs
 * - `deciding`: the decision is being sent
 * - `done`, `error`, `denied`: `result` has the text that the model received
 */
export type ToolState = 'input' | 'running' | 'pending' | 'deciding' | 'done' | 'error' | 'denied'

interface ToolCallPart<Name, Args, Pending> {
  readonly type: 'tool'
  readonly callId: string
  readonly name: Name
  readonly state: ToolState
  readonly args: Args | undefined
  readonly result?: string
  /** The pending call, in the states `pending` and `deciding`. */
  readonly call?: Pending
}

/** A tool call. Its name determines the type of its arguments, for tools made with `defineTool`. */
export type ToolPart<K extends CallTypes = CallTypes> = K['start'] extends infer Start
  ? Start extends { name: infer Name; args: infer Args }
    ? ToolCallPart<Name, Args, PendingCall<K>>
    : never
  : never

export type MessagePart<K extends CallTypes = CallTypes> =
  | TextPart
  | ReasoningPart
  | FilePart
  | SourcePart
  | SteerPart
  | ToolPart<K>

/** Returns the text of a message, without its other parts. */
export function messageText({ parts }: Pick<ChatMessage, 'parts'>): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')
}
