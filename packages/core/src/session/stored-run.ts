import { AbortError } from '../errors/abort-error.ts'
import { AlliumError } from '../errors/allium-error.ts'
import type { ErrorCode } from '../errors/codes.ts'
import type { RunStatus } from '../events/events.ts'
import { type RunResult, withPartial } from '../loop/run-result.ts'
import { jsonSafe } from '../messages/json-safe.ts'
import type { Part, ToolCallPart } from '../messages/message.ts'
import type { StoredTurn } from '../ports/session-store.ts'
import type { SessionScope } from '../scopes/session/session-scope.ts'
import type { RunEvents } from '../scopes/turn/turn-options.ts'
import type { ToolCallRecord } from '../tool/call-record.ts'

/**
 * Ends a run like a stored one: emits its text at once and its end, and returns its result.
 *
 * @param text its answer, as the reader sees it
 * @throws the error that it ended with, if it was aborted, failed or interrupted
 */
export function endAsStored(events: RunEvents, scope: SessionScope, stored: StoredTurn, text: string): RunResult {
  const { turnId, answer, usage, messages, reason, code, finishReason, resumes, rest } = stored
  const sessionId = scope.id
  const status = endOf(stored)
  // The calls of the run that are still pending.
  const pending = scope.suspension?.turnId === turnId ? scope.pending : []
  const turnIndex = Math.max(0, (rest.turnCount ?? 1) - 1)
  if (text !== '') void events.push({ type: 'text-delta', delta: text })
  void events.push({
    type: 'turn:end',
    sessionId,
    turnId,
    turnIndex,
    status,
    usage: { ...usage },
    ...(reason !== undefined && status !== 'failed' && { reason }),
    ...(status === 'suspended' && { pending }),
  })
  if (status === 'aborted' || status === 'failed')
    throw withPartial(errorOf(stored), { text, usage: { ...usage }, messages, turnId, sessionId })
  const result: RunResult = jsonSafe({
    text,
    output: answer,
    status,
    state: { ...rest.state },
    usage: { ...usage },
    messages,
    toolCalls: callsOf(messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content))),
    pending,
    turnId,
    sessionId,
  })
  if (reason !== undefined) result.reason = reason
  if (code !== undefined) result.code = code
  if (finishReason !== undefined) result.finishReason = finishReason
  if (resumes !== undefined) result.resumes = resumes
  return result
}

function endOf({ status }: StoredTurn): RunStatus {
  if (status === 'running' || status === 'interrupted') return 'failed'
  return status === 'closed' || status === 'rewound' ? 'completed' : status
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
