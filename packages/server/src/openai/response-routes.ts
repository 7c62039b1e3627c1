import type { PendingCall } from '@allium/core'
import type { Access, Limits, RunControl, Seals, Stores } from '../host/host.ts'
import { blockedProblem } from '../http/problem.ts'
import { imageBody } from '../request/body.ts'
import { authenticate, type Caller, keyOf, resolveCaller } from '../request/caller.ts'
import { route } from '../request/route.ts'
import type { Serve } from '../request/router.ts'
import { text } from '../request/schema.ts'
import { streamRun } from '../response/stream.ts'
import { type Answer, awaitAnswer, type RunHandle } from '../run/run-handle.ts'
import type { RunRequest } from '../run/run-request.ts'
import { fork as forkSession } from '../sessions/fork.ts'
import { responseBody } from './bodies.ts'
import { callableTools, clientToolCalls, type WireCall } from './client-tool-calls.ts'
import { unsupportedInStored } from './parameters.ts'
import {
  callItem,
  lastItemStatus,
  messageItem,
  type ResponseMeta,
  type ResponseState,
  responseOf,
  statusOf,
} from './response.ts'
import { responseFrames } from './response-frames.ts'
import { responseId } from './response-id.ts'
import { type ResponseRequest, responseRequest } from './response-request.ts'
import { readStoredResponse } from './stored-response.ts'

const routes = {
  stored: route({
    method: 'get',
    path: '/v1/responses/:id',
    summary: 'Get a stored response',
    params: { id: text() },
    query: unsupportedInStored,
    answers: { 200: 'Foreign' },
    ignoresUnknown: true,
  }),
  create: route({
    method: 'post',
    path: '/v1/responses',
    summary: 'Create a response with an agent',
    body: responseBody,
    bodyName: 'responseBody',
    minBody: imageBody,
    answers: { 200: 'Foreign' },
    streams: 'onRequest',
    ignoresUnknown: true,
  }),
}

/** Adds the routes of OpenAI's Responses, which other providers support as Open Responses. */
export function responseRoutes(serve: Serve, host: Access & Stores & RunControl & Limits & Seals): void {
  const now = () => Math.floor(host.clock.now() / 1000)

  serve(routes.stored, async (c, read) => {
    const principal = await authenticate(host, c.req.raw)
    const { id } = (await read()).params
    return c.json(await readStoredResponse(host, c.req.raw, { principal, id }))
  })

  serve(routes.create, async (c, read) => {
    await authenticate(host, c.req.raw)
    const { body } = await read()
    const { model, stream = false, store = true, previous_response_id: previous, metadata = {} } = body
    const caller = await resolveCaller(host, c.req.raw, model)
    const tools = callableTools(body, host, store)
    const { sessionId, request, fork } = await responseRequest(host, caller, body)
    const format = body.text?.format
    const settings = { format, previous: previous ?? null, metadata, tools }
    const meta: ResponseMeta = { model, sessionId, ...settings, created: now() }
    const idOf = (turnId: string) =>
      sessionId === undefined ? `resp_${crypto.randomUUID()}` : responseId({ sessionId, turnId })
    const runRequest: RunRequest = {
      sessionId,
      ...request,
      clientTools: tools,
      output: format?.schema,
      ...(stream && { onRetryAfterOutput: 'fail' }),
      onDisconnect: 'abort',
    }
    const start = () => startRun(host, caller, runRequest, fork)
    // A client that sends its whole history next time can prove its calls only by their ids.
    const isSealed = host.options.secret !== undefined
    const clientCallsIn = (pending: readonly PendingCall[]) => clientToolCalls(host, caller, pending, isSealed)
    const frames = () => responseFrames(meta, { now, idOf, clientCallsIn })
    if (stream) return streamRun(host, caller, start, { frames })
    const answer = await awaitAnswer(await start(), c.req.raw.signal)
    const state = answeredState(answer, await clientCallsIn(answer.pending))
    return blockedProblem(answer) ?? c.json(responseOf(meta, { ...state, id: idOf(answer.turnId), ended: now() }))
  })
}

/** Starts the run. If it never begins, deletes the session that was forked for it, because no client knows that session. */
async function startRun(
  host: Stores & RunControl & Limits,
  caller: Caller,
  request: RunRequest,
  fork: ResponseRequest['fork'],
): Promise<RunHandle> {
  if (fork === undefined) return host.runs.start({ ...caller, ...request })
  await forkSession(host, caller, fork)
  const deleteFork = () => host.sessions.delete(keyOf(caller, fork.to))
  try {
    const run = await host.runs.start({ ...caller, ...request })
    run.started.catch(deleteFork).catch(() => {})
    return run
  } catch (error) {
    await deleteFork()
    throw error
  }
}

/** Returns the text and the calls of an answer as items of a response. */
function answeredState(
  { status, finishReason, pending, text: answerText, usage }: Answer,
  calls: readonly WireCall[],
): Omit<ResponseState, 'id'> {
  const end = statusOf(status, finishReason, pending)
  const messageItems =
    answerText === '' ? [] : [messageItem(`msg_${crypto.randomUUID()}`, lastItemStatus(end), [answerText])]
  const output = [...messageItems, ...calls.map((call) => callItem(call, `fc_${crypto.randomUUID()}`))]
  return { ...end, output, usage }
}
