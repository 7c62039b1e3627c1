import type { PendingCall } from '@allium/core'
import { decisionsFromResults, verifyClientCalls } from '../approvals/client-calls.ts'
import { requirePendingCalls } from '../approvals/pending-calls.ts'
import type { Access, Limits, RunControl, Seals, StoreReader, Stores } from '../host/host.ts'
import { blockedProblem } from '../http/problem.ts'
import { imageBody } from '../request/body.ts'
import { authenticate, type Caller, canUse, resolveCaller } from '../request/caller.ts'
import { idempotencyKey, sessionId as ofSession } from '../request/fields.ts'
import { route } from '../request/route.ts'
import type { Serve } from '../request/router.ts'
import { optional } from '../request/schema.ts'
import { streamRun } from '../response/stream.ts'
import { awaitAnswer } from '../run/run-handle.ts'
import type { RunRequest } from '../run/run-request.ts'
import { completionBody } from './bodies.ts'
import { chatHistory, chatInput, resultsAt } from './chat-input.ts'
import { callableTools, clientToolCalls, needsApproval } from './client-tool-calls.ts'
import { approvalPending, completion, completionFrames, cutOff } from './completion.ts'
import type { ChatMessage } from './messages.ts'
import { responseRoutes } from './response-routes.ts'

const routes = {
  models: route({
    method: 'get',
    path: '/v1/models',
    summary: 'List the agents that the caller may use, as models',
    answers: { 200: 'Foreign' },
    ignoresUnknown: true,
  }),
  completion: route({
    method: 'post',
    path: '/v1/chat/completions',
    summary: 'Create a chat completion with an agent',
    headers: { 'x-session-id': optional(ofSession), 'idempotency-key': idempotencyKey },
    body: completionBody,
    bodyName: 'completionBody',
    minBody: imageBody,
    answers: { 200: 'Foreign' },
    streams: 'onRequest',
    ignoresUnknown: true,
  }),
}

/** Adds the routes of OpenAI's API, under `/v1`. The model that a client names is an agent. */
export function openaiRoutes(serve: Serve, host: Access & Stores & RunControl & Limits & Seals): void {
  responseRoutes(serve, host)

  serve(routes.models, async (c) => {
    const principal = await authenticate(host, c.req.raw)
    const data: object[] = []
    for (const id of host.agents.keys())
      if (await canUse(host, principal, id)) data.push({ id, object: 'model', created: 0, owned_by: 'allium' })
    return c.json({ object: 'list', data })
  })

  serve(routes.completion, async (c, read) => {
    await authenticate(host, c.req.raw)
    const { body, headers } = await read()
    const { model, messages, stream = false, stream_options: streamed } = body
    const sessionId = headers['x-session-id']
    const caller = await resolveCaller(host, c.req.raw, model)
    const clientTools = callableTools(body, host, sessionId !== undefined)
    const request = await requestOf(host, caller, sessionId, messages)
    const clientCallsIn = (pending: readonly PendingCall[]) =>
      clientToolCalls(host, caller, pending, sessionId === undefined)
    const created = Math.floor(host.clock.now() / 1000)
    const meta = { id: `chatcmpl-${crypto.randomUUID()}`, model, created }
    const start = () =>
      host.runs.start({
        ...caller,
        sessionId,
        ...request,
        clientTools,
        output: body.response_format?.schema,
        ...(stream && { onRetryAfterOutput: 'fail' }),
        idempotencyKey: headers['idempotency-key'],
        onDisconnect: sessionId === undefined ? 'abort' : undefined,
      })
    if (!stream) {
      const result = await awaitAnswer(await start(), c.req.raw.signal)
      if (result.status === 'aborted') return cutOff
      if (needsApproval(result.pending)) return approvalPending
      return blockedProblem(result) ?? c.json(completion(meta, result, await clientCallsIn(result.pending)))
    }
    const includeUsage = streamed?.include_usage === true
    return streamRun(host, caller, start, {
      frames: () => completionFrames(meta, { includeUsage, clientCallsIn }),
    })
  })
}

/** Returns the newest message of a session, or the results of its pending calls. Without a session, returns the whole history. */
async function requestOf(
  host: StoreReader & Seals,
  caller: Caller,
  sessionId: string | undefined,
  messages: readonly ChatMessage[],
): Promise<RunRequest> {
  if (sessionId === undefined)
    return { input: await chatHistory(messages, (calls) => verifyClientCalls(host, caller, calls)) }
  const results = resultsAt(messages, messages.findLastIndex(({ role }) => role !== 'tool') + 1)
  if (results.length === 0) return { input: chatInput(messages) }
  const waiting = await requirePendingCalls(host, caller, sessionId)
  return { decisions: await decisionsFromResults(host, caller, waiting, results) }
}
