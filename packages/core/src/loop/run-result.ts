import type { RunStatus } from '../events/events.ts'
import type { Message } from '../messages/message.ts'
import type { Usage } from '../messages/usage.ts'
import type { AnswerDetails } from '../model/response.ts'
import type { State } from '../state/state-store.ts'
import type { CallTypes } from '../tool/typed-calls.ts'

/** The result of a run. An aborted or failed run rejects instead. */
export interface RunResult<S = State, O = string, K extends CallTypes = CallTypes> extends AnswerDetails {
  /** The text of the last step. */
  text: string
  /** The answer: its text, or the parsed value if the run had the option `output`; null if there is none. */
  output: O | null
  /**
   * How the run ended: `completed` (the model made no more calls), `stopped` (by `ctx.stop()` or `maxSteps`), `blocked`
   * (by a guard), or `suspended` (the calls in `pending` need a decision).
   */
  status: Exclude<RunStatus, 'aborted' | 'failed'>
  /** Why it was stopped or blocked. */
  reason?: string
  /** For a block: the code of the rule, and after how many milliseconds a retry makes sense. */
  code?: string
  retryAfter?: number
  /** A shallow snapshot of the session's state. */
  state: S
  /** Tokens and provider calls of this run, including sub-agents. */
  usage: Usage
  /** The messages that this turn added to the history. */
  messages: readonly Message[]
  /** The tool calls of this run in the model's order: `callId`, `name`, the `args` that the model sent, and the `result`. */
  toolCalls: readonly K['record'][]
  /** Tool calls that wait for a decision. */
  pending: readonly K['pending'][]
  /** The id of this run. A resumed turn has several runs. */
  turnId: string
  /** The id of the run that this one resumed. */
  resumes?: string
  /** The id of its session. */
  sessionId: string
  /**
   * Returns the result as plain JSON data, for JSON.stringify() and responses. It never throws, and it hides error
   * messages unless the error has `expose: true`. BigInts become digits, dates ISO strings, Maps lists of
   * `[key, value]`, Sets lists, bytes base64, and errors `{ code, message }`.
   */
  toJSON(): Record<string, unknown>
}
