import type { BlockError } from '../errors/block-error.ts'
import { messageOf } from '../errors/describe.ts'
import type { RunStatus } from '../events/events.ts'
import { jsonSafe } from '../messages/json-safe.ts'
import type { Message } from '../messages/message.ts'
import type { Usage } from '../messages/usage.ts'
import type { AnswerDetails } from '../model/response.ts'
import type { State } from '../state/state-store.ts'
import type { CallTypes } from '../tool/call-record.ts'
import type { Answer } from './answer.ts'
import type { Turn } from './turn.ts'

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

/** Copies the details of the last response to the result, and every distinct warning. */
export function addDetails(result: AnswerDetails, { response, warnings }: Answer): void {
  if (warnings.length > 0) result.warnings = warnings
  if (response === undefined) return
  const { finishReason, rawFinishReason, responseId, providerMetadata } = response
  result.finishReason = finishReason
  if (rawFinishReason !== undefined) result.rawFinishReason = rawFinishReason
  if (responseId !== undefined) result.responseId = responseId
  if (providerMetadata !== undefined) result.providerMetadata = providerMetadata
}

/** The state of a run that ended early. Set as `partial` on its error. */
export interface Partial extends Pick<RunResult, 'text' | 'usage' | 'messages'> {
  /** Undefined if the turn had not started. */
  turnId?: string
  sessionId?: string
}

export function partialOf({ answer, session, turnId, usage }: Turn): Partial {
  const messages = session.history.since(session.history.changedFrom)
  return jsonSafe({ text: answer.partial, usage: { ...usage }, messages, turnId, sessionId: session.id })
}

/** Sets `partial` on the error that the run rejects with, if the error is extensible. */
export function withPartial(error: unknown, partial: Partial): unknown {
  if (typeof error === 'object' && error !== null)
    Reflect.defineProperty(error, 'partial', { value: partial, writable: true, configurable: true })
  return error
}

/** Returns why a run was stopped or ended early. */
export function reasonOf({ lifecycle: { end }, stopReason, isSuspended }: Turn): string | undefined {
  if (end === undefined) return isSuspended ? undefined : stopReason
  return end.kind === 'blocked' ? (end.error as BlockError).reason : messageOf(end.error)
}

/** Returns the status of a run. The first abort or block wins, then failed, suspended, stopped. */
export function statusOf({ lifecycle: { end }, stopReason, isSuspended }: Turn): RunStatus {
  if (end !== undefined) return end.kind
  if (isSuspended) return 'suspended'
  return stopReason === undefined ? 'completed' : 'stopped'
}
