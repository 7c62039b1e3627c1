import type { DisplayTransform, Message, PendingCall, StoredTurn } from '@allium/core'
import { isRunOf } from '../agent-names.ts'
import type { Host } from '../host.ts'
import { blockedProblem, requestError } from '../http/problem.ts'
import type { Serve } from '../http/router.ts'
import { fork } from '../native/fork.ts'
import { pendingCallsOf } from '../native/pending-calls.ts'
import { requireSession } from '../native/require-session.ts'
import { imageBody } from '../request/body.ts'
import { authenticate, type Caller, canUse, keyOf, resolveCaller } from '../request/caller.ts'
import { type RequestOf, route } from '../request/route.ts'
import { text } from '../request/schema.ts'
import { displayTransformOf } from '../run/display-transform.ts'
import { awaitAnswer } from '../run/result.ts'
import type { AgentRunRequest, RunRequest } from '../run/run-request.ts'
import { streamRun } from '../run/stream.ts'
import { responseBody } from './bodies.ts'
import { chatHistory, resultsAt } from './chat-input.ts'
import {
  callableTools,
  clientToolCalls,
  decisionsFromResults,
  verifyClientCalls,
  type WireCall,
} from './client-tool-calls.ts'
import type { ChatMessage } from './messages.ts'
import { callItem, messageItem, type ResponseMeta, responseOf, statusOf } from './response.ts'
import { responseFrames } from './response-frames.ts'
import { parseResponseId, responseId } from './response-id.ts'

const routes = {
  stored: route({
    method: 'get',
    path: '/v1/responses/:id',
    summary: 'A response that is kept',
    params: { id: text() },
    answers: { 200: 'Foreign' },
    ignoresUnknown: true,
  }),
  create: route({
    method: 'post',
    path: '/v1/responses',
    summary: 'Asks an agent as a response',
    body: responseBody,
    bodyName: 'responseBody',
    minBody: imageBody,
    answers: { 200: 'Foreign' },
    streams: 'onRequest',
    ignoresUnknown: true,
  }),
}

/** Adds the routes of OpenAI's Responses, which other providers support as Open Responses. */
export function responseRoutes(serve: Serve, host: Host): void {
  const now = () => Math.floor(host.clock.now() / 1000)

  serve(routes.stored, async (c, read) => {
    const principal = await authenticate(host, c.req.raw)
    const { id } = (await read()).params
    const run = parseResponseId(id)
    for (const model of run === undefined ? [] : host.agents.keys()) {
      if (!(await canUse(host, principal, model))) continue
      const caller = await resolveCaller(host, c.req.raw, model)
      const turn = await host.sessions.find(keyOf(caller, run?.sessionId ?? ''), { turnId: run?.turnId ?? '' })
      if (turn === undefined || run === undefined || !isRunOf(caller.agent, turn)) continue
      const pending = turn.status === 'suspended' ? await pendingCallsAfter(host, caller, run.sessionId, turn) : []
      const calls = await clientToolCalls(host, caller, pending, host.options.secret !== undefined)
      const display = await displayTransformOf(caller.agent, keyOf(caller, run.sessionId), host.logger)
      return c.json(storedResponse(turn, calls, { id, model, sessionId: run.sessionId, display }))
    }
    throw responseNotFound(id)
  })

  serve(routes.create, async (c, read) => {
    await authenticate(host, c.req.raw)
    const { body } = await read()
    const { model, stream = false, store = true, previous_response_id: previous, metadata = {} } = body
    const caller = await resolveCaller(host, c.req.raw, model)
    const tools = callableTools(body, host, store)
    const { sessionId, request } = await requestOf(host, caller, body)
    const format = body.text?.format
    const settings = { format, previous: previous ?? null, metadata, tools }
    const meta: ResponseMeta = { model, sessionId, ...settings, created: now() }
    const idOf = (turnId: string) =>
      sessionId === undefined ? `resp_${crypto.randomUUID()}` : responseId({ sessionId, turnId })
    const runRequest: AgentRunRequest = {
      ...caller,
      sessionId,
      ...request,
      clientTools: tools,
      output: format?.schema,
      ...(stream && { onRetryAfterOutput: 'fail' }),
      onDisconnect: 'abort',
    }
    const isFork =
      previous !== undefined && sessionId !== undefined && sessionId !== parseResponseId(previous)?.sessionId
    // Delete the fork if its run never started: no client knows it.
    const deleteFork = async () => (isFork ? host.sessions.delete(keyOf(caller, sessionId)) : undefined)
    const start = async () => {
      const run = await host.runs.start(runRequest)
      run.started.catch(deleteFork).catch(() => {})
      return run
    }
    // A client that sends its whole history next time can prove its calls only by their ids.
    const isSealed = host.options.secret !== undefined
    const clientCallsIn = (pending: readonly PendingCall[]) => clientToolCalls(host, caller, pending, isSealed)
    const frames = () => responseFrames(meta, { now, idOf, clientCallsIn })
    if (stream) return streamRun(host, caller, start, { frames })
    const { status, text, turnId, usage, pending, ...end } = await awaitAnswer(await start(), c.req.raw.signal)
    const messageItems = text === '' ? [] : [messageItem(`msg_${crypto.randomUUID()}`, 'completed', [text])]
    const calls = await clientCallsIn(pending)
    const output = [...messageItems, ...calls.map((call) => callItem(call, `fc_${crypto.randomUUID()}`))]
    const state = { ...statusOf(status, undefined), id: idOf(turnId), output, completed: now(), usage }
    return blockedProblem(end) ?? c.json(responseOf(meta, state))
  })
}

/** Returns the request and its session id, which is undefined for a session that is not stored. */
async function requestOf(
  host: Host,
  caller: Caller,
  { previous_response_id: previous, store = true, input }: RequestOf<typeof routes.create>['body'],
): Promise<{ sessionId: string | undefined; request: RunRequest }> {
  if (previous !== undefined && !store)
    throw requestError('request.invalid', 'A response that goes on with another one is stored, like that.', {
      field: 'store',
    })
  const { since, results } = previous === undefined ? { since: input, results: [] } : inputAfter(input)
  if (!store || results.length === 0) {
    // Before the fork, so that a rejected request stores nothing.
    const input = await chatHistory(since, (calls) => verifyClientCalls(host, caller, calls), 'input')
    const sessionId = store ? await sessionFor(host, caller, previous, false) : undefined
    return { sessionId, request: { input } }
  }
  const sessionId = await sessionFor(host, caller, previous, true)
  const waiting = await pendingCallsOf(caller, sessionId, await requireSession(host, keyOf(caller, sessionId)))
  return { sessionId, request: { decisions: await decisionsFromResults(host, caller, waiting, results) } }
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
    throw requestError('request.invalid', 'Results of calls stand alone: say more when the answer to them is there.')
  return { since, results }
}

/** Returns the calls that a run left pending, as long as they are. */
async function pendingCallsAfter(
  host: Host,
  caller: Caller,
  sessionId: string,
  turn: StoredTurn,
): Promise<readonly PendingCall[]> {
  const stored = await requireSession(host, keyOf(caller, sessionId))
  return stored.rest.runCount === turn.rest.runCount ? pendingCallsOf(caller, sessionId, stored) : []
}

/** Returns a stored run as a response, with the texts of its answer. An active run has the texts that are stored so far. */
function storedResponse(
  { status, messages, usage, startedAt, endedAt }: StoredTurn,
  calls: readonly WireCall[],
  {
    id,
    model,
    sessionId,
    display,
  }: { id: string; model: string; sessionId: string | undefined; display: DisplayTransform },
): object {
  const texts = messages.flatMap(({ role, content }) => (role === 'assistant' ? [display(textOf(content))] : []))
  const end = endedAt === undefined ? { status: 'in_progress' as const } : statusOf(status ?? 'failed', undefined)
  const messageItems = texts
    .filter((text) => text !== '')
    .map((text, index) => messageItem(`msg_${id.slice(-16)}_${index}`, 'completed', [text]))
  const output = [...messageItems, ...calls.map((call, index) => callItem(call, `fc_${id.slice(-16)}_${index}`))]
  const meta = { model, sessionId, previous: null, metadata: {}, created: Math.floor(startedAt / 1000) }
  const completed = endedAt === undefined ? {} : { completed: Math.floor(endedAt / 1000) }
  return responseOf(meta, { ...end, ...completed, id, output, usage })
}

function textOf(content: Message['content']): string {
  if (typeof content === 'string') return content
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
}

function responseNotFound(id: string) {
  return requestError('session.not_found', `There is no response ${JSON.stringify(id.slice(0, 200))} of yours.`)
}

/**
 * Returns the session of the previous response. If a later run has changed it, returns a new session that is forked after the response.
 * Results do not fork the session, because they count once.
 */
async function sessionFor(
  host: Host,
  caller: Caller,
  previous: string | undefined,
  hasResults: boolean,
): Promise<string> {
  const newSessionId = `response-${crypto.randomUUID()}`
  if (previous === undefined) return newSessionId
  const run = parseResponseId(previous)
  const key = keyOf(caller, run?.sessionId ?? newSessionId)
  const turn = run && (await host.sessions.find(key, { turnId: run.turnId }))
  if (run === undefined || turn?.endedAt === undefined) throw responseNotFound(previous)
  const { rest } = await requireSession(host, key)
  if (hasResults || rest.runCount === turn.rest.runCount) return run.sessionId
  await fork(host, caller, { from: run.sessionId, to: newSessionId, at: run.turnId })
  return newSessionId
}
