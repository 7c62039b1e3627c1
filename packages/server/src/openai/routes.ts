import type { PendingCall } from '@allium/core'
import type { Hono } from 'hono'
import type { Host } from '../host.ts'
import { refusing } from '../http/answer.ts'
import { readObject } from '../http/body.ts'
import { blockedProblem } from '../http/problem.ts'
import { isThere } from '../native/is-there.ts'
import { waitingIn } from '../native/waiting.ts'
import type { Asked } from '../run/asked.ts'
import { streamOf } from '../run/reading.ts'
import { resultOf } from '../run/result.ts'
import { type Ctx, type Env, keyOf, mayUse, principalOf, type Visit, visit } from '../visit.ts'
import { chatHistory, chatInput, imageBody, modelOf, resultsAt } from './asked.ts'
import { askedFormat } from './asked-format.ts'
import { completion, completionFrames } from './completion.ts'
import { errorBody } from './error-body.ts'
import { callsOf, handedBack, resultsFor, toolsOf } from './handed-back.ts'
import { responseRoutes } from './response-routes.ts'

/** The routes of OpenAI's API, below `/v1`: the model that a client names is an agent. */
export function openaiRoutes(app: Hono<Env>, host: Host): void {
  const refusal = refusing(host, errorBody)
  responseRoutes(app, host)

  app.get(
    '/v1/models',
    refusal(async (c) => {
      const principal = await principalOf(host, c.req.raw)
      const data: object[] = []
      for (const id of host.agents.keys())
        if (await mayUse(host, principal, id)) data.push({ id, object: 'model', created: 0, owned_by: 'allium' })
      return c.json({ object: 'list', data })
    }),
  )

  app.post(
    '/v1/chat/completions',
    refusal(async (c) => {
      const body = await readObject(c.req.raw, Math.max(host.maxBody, imageBody))
      const asks = await visit(host, c.req.raw, modelOf(body))
      const sessionId = c.req.header('x-session-id')
      const clientTools = toolsOf(body, host, sessionId !== undefined)
      const output = askedFormat(body.response_format, 'response_format.json_schema')?.schema
      const what = await saidIn(host, asks, sessionId, body.messages)
      const callsOfPending = (pending: readonly PendingCall[]) =>
        handedBack(host, asks, pending, sessionId === undefined)
      const stream = body.stream === true
      const answering = {
        id: `chatcmpl-${crypto.randomUUID()}`,
        model: modelOf(body),
        created: Math.floor(host.clock.now() / 1000),
      }
      const pump = await host.runs.begin({
        ...asks,
        sessionId,
        ...what,
        clientTools,
        output,
        ...(stream && { resets: 'refuse' }),
        ...keyIn(c),
        onDisconnect: sessionId === undefined ? 'abort' : undefined,
      })
      if (!stream) {
        const result = await resultOf(pump, c.req.raw.signal)
        return blockedProblem(result) ?? c.json(completion(answering, result, await callsOfPending(result.pending)))
      }
      const includeUsage = (body.stream_options as { include_usage?: unknown } | undefined)?.include_usage === true
      return streamOf(host, asks, pump, {
        frames: () => completionFrames(answering, { includeUsage, callsOfPending }),
      })
    }),
  )
}

/** In a session the newest message, or the results of calls that wait there; else the whole history. */
async function saidIn(
  host: Host,
  asks: Visit,
  sessionId: string | undefined,
  messages: unknown,
): Promise<Pick<Asked, 'input' | 'decisions'>> {
  if (sessionId === undefined) return { input: await chatHistory(messages, (calls) => callsOf(host, asks, calls)) }
  const list = Array.isArray(messages) ? messages : []
  const behind = list.findLastIndex((message) => (message as { role?: unknown } | null)?.role !== 'tool') + 1
  const results = resultsAt(list, behind)
  if (results.length === 0) return { input: chatInput(messages) }
  const waiting = await waitingIn(asks, sessionId, await isThere(host, keyOf(asks, sessionId)))
  return { decisions: await resultsFor(host, asks, waiting, results) }
}

function keyIn(c: Ctx): { idempotencyKey?: string } {
  const idempotencyKey = c.req.header('idempotency-key')
  return idempotencyKey === undefined ? {} : { idempotencyKey }
}
