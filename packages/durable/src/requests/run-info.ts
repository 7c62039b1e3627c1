import type { Input, Message, PendingCall, StoredTurn, ToolResultPart, Usage } from '@allium/core'
import type { DurableStatus } from '@allium/store'
import { pendingCallsOf } from '../run/pending-calls.ts'
import { storedTask } from '../run/task.ts'
import type { Worker } from '../worker/worker.ts'
import { ownedRun, type RunAccess, type StartedRun } from './owned-run.ts'

/** A tool call of a run. */
export interface RunToolCall {
  readonly callId: string
  readonly name: string
  readonly args: unknown
  /** What the model received; absent while the call is pending. */
  readonly result?: { readonly content: ToolResultPart['content']; readonly isError: boolean }
}

/** The status and outcome of a run. */
export interface RunInfo extends StartedRun {
  readonly status: DurableStatus
  readonly queue: string
  readonly priority: number
  /** Earliest start, in milliseconds since the epoch. */
  readonly runAt: number
  /** The input, as long as the run may be executed again. */
  readonly input?: Input
  readonly code?: string
  readonly reason?: string
  /** The answer of a run that has ended. */
  readonly text?: string
  readonly usage?: Usage
  /** The tool calls of a run that has ended, in order. */
  readonly toolCalls?: readonly RunToolCall[]
  /** The calls of a suspended run that are still pending. */
  readonly pending?: readonly PendingCall[]
}

export async function runInfo(worker: Worker, run: string, { principal }: RunAccess = {}): Promise<RunInfo> {
  const { sessions } = worker.host
  const found = await ownedRun(worker, run, principal)
  const { key, status, queue, priority, runAt, task, code } = found
  const { input, principal: owner } = storedTask(task)
  const turn = await sessions.find(key, { turnId: run })
  const resumed = turn?.resumes === undefined ? undefined : await sessions.find(key, { turnId: turn.resumes })
  const reason = found.reason ?? turn?.reason
  return {
    ...{ run, turnId: run, sessionId: key.sessionId, status, queue, priority, runAt },
    ...(input !== undefined && { input }),
    ...(code !== undefined && { code }),
    ...(reason !== undefined && { reason }),
    ...outcomeOf(turn, resumed),
    ...(status === 'suspended' && { pending: await pendingCallsOf(worker.host, found, owner ?? principal) }),
  }
}

/**
 * Returns the parts of the outcome that are stored with the session.
 *
 * @param resumed the turn that it resumed, which has the calls that were decided
 */
function outcomeOf(turn: StoredTurn | undefined, resumed?: StoredTurn): Pick<RunInfo, 'text' | 'usage' | 'toolCalls'> {
  if (turn === undefined) return {}
  const { answer, usage, messages } = turn
  const results = resultsIn(messages)
  const decided = callsIn(resumed?.messages ?? []).filter(({ callId }) => results.has(callId))
  const toolCalls = [...decided, ...callsIn(messages)].map(({ callId, name, args }) => {
    const result = results.get(callId)
    if (result === undefined) return { callId, name, args }
    return { callId, name, args, result: { content: result.content, isError: result.isError === true } }
  })
  return { ...(answer !== null && { text: answer }), usage, toolCalls }
}

function callsIn(messages: readonly Message[]) {
  return partsOf(messages).filter((part) => part.type === 'tool-call')
}

function resultsIn(messages: readonly Message[]): ReadonlyMap<string, ToolResultPart> {
  return new Map(partsOf(messages).flatMap((part) => (part.type === 'tool-result' ? [[part.callId, part]] : [])))
}

function partsOf(messages: readonly Message[]) {
  return messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content))
}
