import type { Decision } from '@allium/core'
import type { CallToolResult, ClientCapabilities, InputRequiredResult } from '@modelcontextprotocol/server'
import { requirePendingCalls } from '../approvals/pending-calls.ts'
import type { RunControl, Runtime, Seals, StoreReader } from '../host/host.ts'
import type { CursorScope } from '../http/cursors.ts'
import { problemOf, requestError } from '../http/problem.ts'
import type { Caller } from '../request/caller.ts'
import type { Answer } from '../run/run-handle.ts'
import { decisionOf, type Question, questionsOf } from './questions.ts'
import { readRun } from './read-run.ts'
import { type RequestState, sealState } from './request-state.ts'
import { type AnswerFile, errorResult, toToolResult } from './result.ts'
import type { Sdk } from './sdk.ts'

/** The call of an agent by an MCP client. */
export interface McpCall {
  readonly caller: Caller
  readonly message: string
  readonly sessionId: string
  /** The state of the earlier request whose questions this one answers. */
  readonly state: RequestState | undefined
  readonly stateScope: CursorScope
  /** The capabilities of the client. Undefined if elicitation is off. */
  readonly capabilities: ClientCapabilities | undefined
  /** Answers to questions, by their keys. */
  readonly responses: Record<string, unknown> | undefined
  readonly signal: AbortSignal
  /** Reports the progress of the run. */
  progress(message: string): void
}

type CallHost = StoreReader & RunControl & Runtime & Seals

/** Runs an agent until it has an answer, or questions for the client. */
export async function callAgent(
  host: CallHost,
  sdk: Sdk,
  mcpCall: McpCall,
): Promise<CallToolResult | InputRequiredResult> {
  const { caller, sessionId, message, state } = mcpCall
  const target = { ...caller, sessionId, onDisconnect: 'abort' } as const
  const [files, answered]: [AnswerFile[], Set<string>] = [[], new Set()]
  const run = async (input: { input: string } | { decisions: Record<string, Decision> }) =>
    readRun(await host.runs.start({ ...target, ...input }), mcpCall, files)
  try {
    let answer = state === undefined ? await run({ input: message }) : undefined
    while (answer === undefined || answer.status === 'suspended') {
      const questions = await openQuestions(host, mcpCall)
      if (answer === undefined && questions.size === 0)
        throw requestError('approval.used', 'The calls of this `requestState` have already been decided.')
      const decisions = decisionsIn(sdk, mcpCall, questions, answered)
      if (Object.keys(decisions).length > 0 && !mcpCall.signal.aborted) answer = await run({ decisions })
      else if (questions.size > 0) return await inputRequired(host, sdk, mcpCall, questions)
      else break
    }
    return toToolResult(answer as Answer, files)
  } catch (error) {
    const { code, message: reason } = problemOf(error, host.clock.now())
    host.logger.warn('A call of an agent by MCP has failed.', { code })
    return errorResult(reason, { sessionId, status: 'failed', code })
  }
}

async function openQuestions(host: CallHost, { caller, sessionId, capabilities }: McpCall) {
  if (capabilities === undefined) return new Map<string, Question>()
  return questionsOf(await requirePendingCalls(host, caller, sessionId), capabilities)
}

async function inputRequired(
  host: CallHost,
  sdk: Sdk,
  { sessionId, stateScope }: McpCall,
  questions: ReadonlyMap<string, Question>,
): Promise<InputRequiredResult> {
  const shown = Object.fromEntries([...questions].map(([key, question]) => [key, question.call.token]))
  return sdk.inputRequired({
    inputRequests: Object.fromEntries([...questions].map(([key, { request }]) => [key, request])),
    requestState: await sealState(host, stateScope, { sessionId, shown }),
  })
}

/** Returns the decisions in the answers of the client. Each answer is used once. */
function decisionsIn(
  sdk: Sdk,
  { state, responses }: McpCall,
  questions: ReadonlyMap<string, Question>,
  answered: Set<string>,
): Record<string, Decision> {
  const decisions: Record<string, Decision> = {}
  for (const [key, question] of questions) {
    // An answer is for the call that the client has seen. Data for a tool may come with the first request, an approval never.
    const isMeant = state === undefined ? !question.approves : state.shown[key] === question.call.token
    if (!isMeant || answered.has(key)) continue
    const decision = decisionOf(question, sdk.inputResponse(responses, key))
    if (decision === undefined) continue
    answered.add(key)
    decisions[question.call.callId] = decision
  }
  return decisions
}
