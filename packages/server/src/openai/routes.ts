import type { PendingCall } from '@allium/core'
import type { Host } from '../host.ts'
import { blockedProblem } from '../http/problem.ts'
import type { Serve } from '../http/router.ts'
import { isThere } from '../native/is-there.ts'
import { waitingIn } from '../native/waiting.ts'
import { imageBody } from '../request/body.ts'
import { idempotencyKey, sessionId as ofSession } from '../request/fields.ts'
import { route } from '../request/route.ts'
import { optional } from '../request/schema.ts'
import type { RunRequest } from '../run/asked.ts'
import { streamOf } from '../run/reading.ts'
import { resultOf } from '../run/result.ts'
import { keyOf, mayUse, principalOf, type Visit, visit } from '../visit.ts'
import { chatHistory, chatInput, resultsAt } from './asked.ts'
import { completionBody } from './bodies.ts'
import { completion, completionFrames } from './completion.ts'
import { callableTools, handedBack, handedTo, resultsFor } from './handed-back.ts'
import type { ChatMessage } from './messages.ts'
import { responseRoutes } from './response-routes.ts'

const routes = {
  models: route({
    method: 'get',
    path: '/v1/models',
    summary: 'The agents that who asks may use, as models',
    answers: { 200: 'Foreign' },
    isForeign: true,
  }),
  completion: route({
    method: 'post',
    path: '/v1/chat/completions',
    summary: 'Asks an agent as a chat completion',
    headers: { 'x-session-id': optional(ofSession), 'idempotency-key': idempotencyKey },
    body: completionBody,
    bodyName: 'completionBody',
    minBody: imageBody,
    answers: { 200: 'Foreign' },
    streams: 'asked',
    isForeign: true,
  }),
}

/** The routes of OpenAI's API, below `/v1`: the model that a client names is an agent. */
export function openaiRoutes(serve: Serve, host: Host): void {
  responseRoutes(serve, host)

  serve(routes.models, async (c) => {
    const principal = await principalOf(host, c.req.raw)
    const data: object[] = []
    for (const id of host.agents.keys())
      if (await mayUse(host, principal, id)) data.push({ id, object: 'model', created: 0, owned_by: 'allium' })
    return c.json({ object: 'list', data })
  })

  serve(routes.completion, async (c, read) => {
    await principalOf(host, c.req.raw)
    const { body, headers } = await read()
    const { model, messages, stream = false, stream_options: streamed } = body
    const { 'x-session-id': sessionId, 'idempotency-key': idempotencyKey } = headers
    const asks = await visit(host, c.req.raw, model)
    const clientTools = callableTools(body, host, sessionId !== undefined)
    const what = await requestOf(host, asks, sessionId, messages)
    const callsOfPending = (pending: readonly PendingCall[]) => handedBack(host, asks, pending, sessionId === undefined)
    const created = Math.floor(host.clock.now() / 1000)
    const answering = { id: `chatcmpl-${crypto.randomUUID()}`, model, created }
    const begin = () =>
      host.runs.begin({
        ...asks,
        sessionId,
        ...what,
        clientTools,
        output: body.response_format?.schema,
        ...(stream && { resets: 'refuse' }),
        idempotencyKey,
        onDisconnect: sessionId === undefined ? 'abort' : undefined,
      })
    if (!stream) {
      const result = await resultOf(await begin(), c.req.raw.signal)
      return blockedProblem(result) ?? c.json(completion(answering, result, await callsOfPending(result.pending)))
    }
    const includeUsage = streamed?.include_usage === true
    return streamOf(host, asks, begin, {
      frames: () => completionFrames(answering, { includeUsage, callsOfPending }),
    })
  })
}

/** In a session the newest message, or the results of calls that wait there; else the whole history. */
async function requestOf(
  host: Host,
  asks: Visit,
  sessionId: string | undefined,
  messages: readonly ChatMessage[],
): Promise<RunRequest> {
  if (sessionId === undefined) return { input: await chatHistory(messages, (calls) => handedTo(host, asks, calls)) }
  const results = resultsAt(messages, messages.findLastIndex(({ role }) => role !== 'tool') + 1)
  if (results.length === 0) return { input: chatInput(messages) }
  const waiting = await waitingIn(asks, sessionId, await isThere(host, keyOf(asks, sessionId)))
  return { decisions: await resultsFor(host, asks, waiting, results) }
}
