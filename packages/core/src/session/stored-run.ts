import { AbortError } from '../errors/abort-error.ts'
import { AlliumError } from '../errors/allium-error.ts'
import type { ErrorCode } from '../errors/codes.ts'
import type { RunStatus } from '../events/events.ts'
import { jsonOf } from '../messages/json.ts'
import { jsonSafe } from '../messages/json-safe.ts'
import type { ToolResultPart } from '../messages/message.ts'
import type { StoredTurn } from '../ports/session-store.ts'
import type { RunEvents } from '../stream/event-queue.ts'
import type { ToolCallRecord } from '../tool/call-record.ts'
import { suspendedResult, type ToolResult } from '../tool/tool-result.ts'
import { type RunResult, withPartial } from '../turn/run-result.ts'
import type { SessionScope } from './scope/session-scope.ts'

/**
 * Ends a run like a stored one: emits its text at once and its end, and returns its result.
 *
 * @param answer its text, as the reader sees it, and its output
 * @throws the error that it ended with, if it was aborted, failed or interrupted
 */
export function endAsStored(events: RunEvents, scope: SessionScope, stored: StoredTurn, answer: Answer): RunResult {
  const { turnId, messages, reason, code, finishReason, resumes, rest } = stored
  const run = { sessionId: scope.id, turnId, usage: { ...stored.usage } }
  const status = endOf(stored)
  // The calls of the run that are still pending.
  const pending = scope.suspension?.turnId === turnId ? scope.pending : []
  if (answer.text !== '') void events.push({ type: 'text-delta', delta: answer.text })
  void events.push({
    type: 'turn:end',
    ...run,
    turnIndex: Math.max(0, (rest.turnCount ?? 1) - 1),
    status,
    ...(reason !== undefined && status !== 'failed' && { reason }),
    ...(status === 'suspended' && { pending }),
  })
  if (status === 'aborted' || status === 'failed')
    throw withPartial(errorOf(stored), { text: answer.text, messages, ...run })
  const result: RunResult = jsonSafe({
    ...answer,
    ...run,
    status,
    state: { ...rest.state },
    messages,
    toolCalls: callsOf(stored),
    pending,
  })
  if (reason !== undefined) result.reason = reason
  if (code !== undefined) result.code = code
  if (finishReason !== undefined) result.finishReason = finishReason
  if (resumes !== undefined) result.resumes = resumes
  return result
}

type Answer = Pick<RunResult, 'text' | 'output'>

function endOf({ status }: StoredTurn): RunStatus {
  if (status === 'running' || status === 'interrupted') return 'failed'
  return status === 'closed' || status === 'rewound' ? 'completed' : status
}

function errorOf({ status, reason = '', code, turnId }: StoredTurn): Error {
  if (status === 'aborted') return new AbortError(reason)
  if (status !== 'failed')
    return new AlliumError(
      'run.interrupted',
      `The process of the run "${turnId}" of this key was lost. The history has its work so far. Use another key to run again.`,
    )
  // Error codes of other libraries have other formats, such as ECONNREFUSED.
  const known = /^[a-z]+\.[a-z_]+$/.test(code ?? '') ? (code as ErrorCode) : 'run.failed'
  return new AlliumError(known, `The run "${turnId}" of this key has failed: ${reason}`)
}

/** Returns the calls of the run. A value is read from the content, which is what the model got and a layer may have cut. */
function callsOf({ calls = [], messages }: StoredTurn): ToolCallRecord[] {
  const parts = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content))
  return calls.map(({ status, ...call }) => {
    const { callId } = call
    const stored = parts.find((part): part is ToolResultPart => part.type === 'tool-result' && part.callId === callId)
    if (stored === undefined) return { ...call, result: suspendedResult(callId) }
    const { content, isError, json, approval } = stored
    const result: ToolResult = { callId, content, status }
    if (isError === true) result.isError = true
    else if (typeof content === 'string') result.value = json === true ? jsonOf(content) : content
    return { ...call, result, ...(approval !== undefined && { approval }) }
  })
}
