import { AbortError } from '../errors/abort-error.ts'
import { AlliumError } from '../errors/allium-error.ts'
import type { ErrorCode } from '../errors/codes.ts'
import type { RunStatus } from '../events/events.ts'
import type { RunResult } from '../loop/run-result.ts'
import { jsonSafe } from '../messages/json-safe.ts'
import type { Part, ToolCallPart } from '../messages/message.ts'
import type { SessionScope } from '../rings/session/session-scope.ts'
import type { RunEvents } from '../rings/turn/turn-options.ts'
import type { StoredTurn } from '../seams/session-store.ts'
import type { PendingCall } from '../state/snapshot.ts'
import type { ToolCallRecord } from '../tool/call-record.ts'

/** Emits the stream of a run that was answered from the store: its text at once, and its end. */
export function emitStored(events: RunEvents, scope: SessionScope, stored: StoredTurn, text: string): void {
  const { turnId, usage, reason, rest } = stored
  if (text !== '') void events.push({ type: 'text-delta', delta: text })
  const status = endOf(stored)
  const turnIndex = Math.max(0, (rest.turnCount ?? 1) - 1)
  const details = reason === undefined || status === 'failed' ? {} : { reason }
  const pending = status === 'suspended' ? { pending: pendingOf(stored, scope) } : {}
  const end = { turnId, turnIndex, status, usage: { ...usage }, ...details, ...pending }
  void events.push({ type: 'turn:end', sessionId: scope.id, ...end })
}

/**
 * Returns the result of a stored run.
 *
 * @param text its answer, as the reader sees it
 * @throws the error that it ended with, if it was aborted, failed or interrupted
 */
export function storedResult(stored: StoredTurn, scope: SessionScope, text: string): RunResult {
  const { turnId, answer, usage, messages, reason, code, resumes, rest } = stored
  const status = endOf(stored)
  if (status === 'aborted' || status === 'failed') throw failureOf(stored, scope.id, text)
  const result: RunResult = jsonSafe({
    text,
    output: answer,
    status,
    state: { ...rest.state },
    usage: { ...usage },
    messages,
    toolCalls: callsOf(messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content))),
    pending: pendingOf(stored, scope),
    turnId,
    sessionId: scope.id,
  })
  if (reason !== undefined) result.reason = reason
  if (code !== undefined) result.code = code
  if (resumes !== undefined) result.resumes = resumes
  return result
}

/** Returns the calls of the run that are still pending. */
function pendingOf({ turnId }: StoredTurn, scope: SessionScope): PendingCall[] {
  return scope.suspension?.turnId === turnId ? scope.pending : []
}

function endOf({ status }: StoredTurn): RunStatus {
  if (status === 'running' || status === 'interrupted') return 'failed'
  return status === 'closed' || status === 'rewound' ? 'completed' : status
}

function failureOf(stored: StoredTurn, sessionId: string, text: string): Error {
  const { usage, messages, turnId } = stored
  const error = errorOf(stored)
  const partial = { text, usage: { ...usage }, messages, turnId, sessionId }
  return Object.defineProperty(error, 'partial', { value: partial, writable: true, configurable: true })
}

function errorOf({ status, reason = '', code, turnId }: StoredTurn): Error {
  if (status === 'aborted') return new AbortError(reason)
  if (status !== 'failed')
    return new AlliumError(
      'run.interrupted',
      `The run "${turnId}" of this key was interrupted, because its process was lost. The history has its work so far. Use another key to run again.`,
    )
  // Error codes of other libraries have other formats, such as ECONNREFUSED.
  const known = /^[a-z]+\.[a-z_]+$/.test(code ?? '') ? (code as ErrorCode) : 'run.failed'
  return new AlliumError(known, `The run "${turnId}" of this key has failed: ${reason}`)
}

function callsOf(parts: readonly Part[]): ToolCallRecord[] {
  const calls = parts.filter((part): part is ToolCallPart => part.type === 'tool-call')
  return calls.flatMap(({ callId, name, args }) => {
    const result = parts.find((part) => part.type === 'tool-result' && part.callId === callId)
    if (result?.type !== 'tool-result') return []
    const { content, isError = false } = result
    return [{ callId, name, args, result: { callId, content, isError, status: isError ? 'error' : 'ok' } }]
  })
}
