import { decisionsFromResults, verifyClientCalls } from '../approvals/client-calls.ts'
import { requirePendingCalls } from '../approvals/pending-calls.ts'
import type { Seals, StoreReader } from '../host/host.ts'
import { requestError } from '../http/problem.ts'
import { type Caller, keyOf } from '../request/caller.ts'
import { requireSession } from '../request/require-session.ts'
import type { Infer } from '../request/schema.ts'
import type { RunRequest } from '../run/run-request.ts'
import type { responseBody } from './bodies.ts'
import { chatHistory, resultsAt } from './chat-input.ts'
import type { ChatMessage } from './messages.ts'
import { parseResponseId, responseNotFound } from './response-id.ts'

export type ResponseBody = Infer<typeof responseBody>

export interface ResponseRequest {
  /** Undefined for a session that is not stored. */
  readonly sessionId: string | undefined
  readonly request: RunRequest
  /** The session does not exist yet: it is forked from another one after a run. */
  readonly fork?: { readonly from: string; readonly to: string; readonly at: string }
}

/** Returns the run that a response requests, in a fork of the session if a later run has changed it since the previous response. */
export async function responseRequest(
  host: StoreReader & Seals,
  caller: Caller,
  { previous_response_id: previous, store = true, input: messages }: ResponseBody,
): Promise<ResponseRequest> {
  if (previous !== undefined && !store)
    throw requestError(
      'request.invalid',
      'A response that continues another one must be stored. Remove `store: false`.',
      {
        field: 'store',
      },
    )
  const { since, results } = previous === undefined ? { since: messages, results: [] } : inputAfter(messages)
  if (!store || results.length === 0) {
    const input = await chatHistory(since, (calls) => verifyClientCalls(host, caller, calls), 'input')
    if (!store) return { sessionId: undefined, request: { input } }
    return { ...(await sessionFor(host, caller, previous, false)), request: { input } }
  }
  const session = await sessionFor(host, caller, previous, true)
  const waiting = await requirePendingCalls(host, caller, session.sessionId)
  return { ...session, request: { decisions: await decisionsFromResults(host, caller, waiting, results) } }
}

/** Returns what a client sends after a response: the results of calls that came with it, or else the new messages. */
function inputAfter(messages: readonly ChatMessage[]): {
  since: readonly ChatMessage[]
  results: ReturnType<typeof resultsAt>
} {
  const from = messages.findLastIndex(({ role }) => role === 'assistant') + 1
  const since = messages.slice(from)
  const results = resultsAt(since, 0)
  if (results.length > 0 && results.length < since.length)
    throw requestError('request.invalid', 'Tool results must be sent alone. Send other input after the next response.')
  return { since, results }
}

/**
 * Returns the session of the previous response. If a later run has changed it, returns a new session and the fork that creates it. Results
 * do not fork the session, because they count once.
 */
async function sessionFor(
  host: StoreReader,
  caller: Caller,
  previous: string | undefined,
  hasResults: boolean,
): Promise<{ sessionId: string } & Pick<ResponseRequest, 'fork'>> {
  const newSessionId = `response-${crypto.randomUUID()}`
  if (previous === undefined) return { sessionId: newSessionId }
  const run = parseResponseId(previous)
  const key = keyOf(caller, run?.sessionId ?? newSessionId)
  const head = run && (await host.sessions.head(key, { turnId: run.turnId }))
  if (run === undefined || head === undefined) throw responseNotFound(previous)
  const { rest } = await requireSession(host, key)
  if (hasResults || rest.runCount === head.rest.runCount) return { sessionId: run.sessionId }
  return { sessionId: newSessionId, fork: { from: run.sessionId, to: newSessionId, at: run.turnId } }
}
