import type { RunStatus } from '../events/events.ts'
import type { Message } from '../messages/message.ts'
import type { Usage } from '../messages/usage.ts'
import type { AnswerDetails } from '../model/response.ts'
import type { State } from '../state/state-store.ts'
import type { CallTypes } from '../tool/typed-calls.ts'

/** What a run came to. An aborted or failed run rejects instead. */
export interface RunResult<S = State, O = string, K extends CallTypes = CallTypes> extends AnswerDetails {
  /** The text of the last step. */
  text: string
  /** The answer: its text, or where the run had the option `output` what its schema made of it; null where it has none. */
  output: O | null
  /**
   * How it ended: `completed`, the model asked for no more; `stopped` by `ctx.stop()` or `maxSteps`; `blocked` by a guard;
   * `suspended`, calls in `pending` wait for a human.
   */
  status: Exclude<RunStatus, 'aborted' | 'failed'>
  /** Why it was stopped or blocked. */
  reason?: string
  /** Of a block: which rule it was, for programs, and milliseconds after which it is worth another try. */
  code?: string
  retryAfter?: number
  /** A shallow snapshot of the session's state. */
  state: S
  /** Tokens and physical model calls of this run, sub-agents included. */
  usage: Usage
  /** What this turn added to the history. */
  messages: readonly Message[]
  /** Each tool call of this run, in the order of the model's: `callId`, `name`, the `args` that the model sent, and the `result` that it got. */
  toolCalls: readonly K['record'][]
  /** Calls that wait for a decision. */
  pending: readonly K['pending'][]
  /** The id of this run; a turn that was resumed had several. */
  turnId: string
  /** The run that this one resumed. */
  resumes?: string
  /** The session that it ran in. */
  sessionId: string
  /**
   * The result as plain JSON data, for JSON.stringify() and responses: it never throws, and shows nothing that was thrown. BigInts become
   * their digits, dates ISO texts, Maps lists of `[key, value]`, Sets lists, bytes base64, and errors `{ code, message }`.
   */
  toJSON(): Record<string, unknown>
}
