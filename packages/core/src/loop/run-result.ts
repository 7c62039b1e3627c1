import type { RunStatus } from '../events/events.ts'
import type { Message } from '../messages/message.ts'
import type { Usage } from '../messages/usage.ts'
import type { AnswerDetails } from '../model/response.ts'
import type { ToolCallRecord } from '../rings/turn/turn-options.ts'
import type { PendingCall } from '../state/snapshot.ts'
import type { State } from '../state/state-store.ts'

/** What a run came to. An aborted or failed run rejects instead. */
export interface RunResult<S = State, O = string> extends AnswerDetails {
  /** The text of the last step. */
  text: string
  /** The answer: its text, or where the run had the option `output` what its schema made of it; null where it has none. */
  output: O | null
  status: Exclude<RunStatus, 'aborted' | 'failed'>
  /** Why it was stopped or blocked. */
  reason?: string
  /** Of a block: which rule it was, for programs, and milliseconds after which it is worth another try. */
  code?: string
  retryAfter?: number
  /** A shallow snapshot of the session's state. */
  state: S
  usage: Usage
  /** What this turn added to the history. */
  messages: readonly Message[]
  toolCalls: readonly ToolCallRecord[]
  /** Calls that wait for a decision. */
  pending: readonly PendingCall[]
  turnId: string
  /** The run that this one resumed. */
  resumes?: string
  sessionId: string
}
