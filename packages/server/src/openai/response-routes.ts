import type { Message, PendingCall, StoredTurn } from '@allium/core'
import type { Hono } from 'hono'
import type { Host } from '../host.ts'
import { refusing } from '../http/answer.ts'
import { readObject } from '../http/body.ts'
import { blockedProblem, fail, type Problem } from '../http/problem.ts'
import { fork } from '../native/fork.ts'
import { isThere } from '../native/is-there.ts'
import { waitingIn } from '../native/waiting.ts'
import { streamOf } from '../run/reading.ts'
import { resultOf } from '../run/result.ts'
import { type Env, keyOf, mayUse, principalOf, type Visit, visit } from '../visit.ts'
import { chatHistory, imageBody, modelOf, resultsAt } from './asked.ts'
import { askedFormat } from './asked-format.ts'
import { errorBody } from './error-body.ts'
import { callsOf, handedBack, resultsFor, toolsOf, type WireCall } from './handed-back.ts'
import { callItem, messageItem, type Responding, responseOf, statusOf } from './response.ts'
import { messagesIn, metadataOf } from './response-asked.ts'
import { responseFrames } from './response-frames.ts'
import { responseId, runOf } from './response-id.ts'

/** The route of OpenAI's Responses, which others speak as Open Responses. */
export function responseRoutes(app: Hono<Env>, host: Host): void {
  const now = () => Math.floor(host.clock.now() / 1000)
  const waiting = async (asks: Visit, sessionId: string) =>
    waitingIn(asks, sessionId, await isThere(host, keyOf(asks, sessionId)))

  app.get(
    '/v1/responses/:id',
    refusing(
      host,
      responseError,
    )(async (c) => {
      const id = c.req.param('id') as string
      const run = runOf(id)
      const principal = await principalOf(host, c.req.raw)
      for (const model of run === undefined ? [] : host.agents.keys()) {
        if (!(await mayUse(host, principal, model))) continue
        const asks = await visit(host, c.req.raw, model)
        const turn = await host.sessions.find(keyOf(asks, run?.sessionId ?? ''), { turnId: run?.turnId ?? '' })
        if (turn?.agent !== model || run === undefined) continue
        const left = turn.status === 'suspended' ? await waitingBehind(host, asks, run.sessionId, turn) : []
        const calls = await handedBack(host, asks, left, host.options.secret !== undefined)
        return c.json(storedResponse(turn, calls, { id, model, sessionId: run.sessionId }))
      }
      throw fail('session.not_found', `There is no response ${JSON.stringify(id.slice(0, 200))} of yours.`)
    }),
  )

  app.post(
    '/v1/responses',
    refusing(
      host,
      responseError,
    )(async (c) => {
      const body = await readObject(c.req.raw, Math.max(host.maxBody, imageBody))
      const model = modelOf(body)
      const asks = await visit(host, c.req.raw, model)
      const previous = previousOf(body)
      const isStored = body.store !== false
      const clientTools = toolsOf(body, host, isStored)
      const messages = messagesIn(body.input)
      const { since, results } = previous === undefined ? { since: messages, results: [] } : saidBehind(messages)
      const sessionId = isStored ? await sessionOf(host, asks, previous, results.length > 0) : undefined
      const what =
        sessionId !== undefined && results.length > 0
          ? { decisions: await resultsFor(host, asks, await waiting(asks, sessionId), results) }
          : { input: await chatHistory(since, (calls) => callsOf(host, asks, calls), 'input') }
      const stream = body.stream === true
      const format = askedFormat((body.text as { format?: unknown } | null | undefined)?.format, 'text.format')
      const given = { format, previous: previous ?? null, metadata: metadataOf(body), tools: clientTools }
      const responding: Responding = { model, sessionId, ...given, created: now() }
      const idOf = (turnId: string) =>
        sessionId === undefined ? `resp_${crypto.randomUUID()}` : responseId({ sessionId, turnId })
      const pump = await host.runs.begin({
        ...asks,
        sessionId,
        ...what,
        clientTools,
        output: format?.schema,
        ...(stream && { resets: 'refuse' }),
        onDisconnect: 'abort',
      })
      // Whoever sends its whole history next time has nothing but the ids.
      const isSealed = host.options.secret !== undefined
      const callsOfPending = (pending: readonly PendingCall[]) => handedBack(host, asks, pending, isSealed)
      const frames = () => responseFrames(responding, { now, idOf, callsOfPending })
      if (stream) return streamOf(host, asks, pump, { frames })
      const { status, text, turnId, usage, pending, ...end } = await resultOf(pump, c.req.raw.signal)
      const said = text === '' ? [] : [messageItem(`msg_${crypto.randomUUID()}`, 'completed', [text])]
      const calls = await callsOfPending(pending)
      const output = [...said, ...calls.map((call) => callItem(call, `fc_${crypto.randomUUID()}`))]
      const state = { ...statusOf(status, undefined), id: idOf(turnId), output, completed: now(), usage }
      return blockedProblem(end) ?? c.json(responseOf(responding, state))
    }),
  )
}

/** What a client says behind a response: the results of calls that were handed back with it, else what it says since. */
function saidBehind(messages: readonly object[]): { since: readonly object[]; results: ReturnType<typeof resultsAt> } {
  const from = messages.findLastIndex((message) => 'role' in message && message.role === 'assistant') + 1
  const since = messages.slice(from)
  const results = resultsAt(since, 0)
  if (results.length > 0 && results.length < since.length)
    throw fail('request.invalid', 'Results of calls stand alone: say more when the answer to them is there.')
  return { since, results }
}

/** The calls that a run has left to somebody, while they wait. */
async function waitingBehind(
  host: Host,
  asks: Visit,
  sessionId: string,
  turn: StoredTurn,
): Promise<readonly PendingCall[]> {
  const stored = await isThere(host, keyOf(asks, sessionId))
  return stored.rest.runCount === turn.rest.runCount ? waitingIn(asks, sessionId, stored) : []
}

/** A run as it was stored: the texts of its answer; one that goes on has those that are stored so far. */
function storedResponse(
  { status, messages, usage, startedAt, endedAt }: StoredTurn,
  calls: readonly WireCall[],
  { id, model, sessionId }: { id: string; model: string; sessionId: string | undefined },
): object {
  const texts = messages.flatMap(({ role, content }) => (role === 'assistant' ? [textIn(content)] : []))
  const end = endedAt === undefined ? { status: 'in_progress' as const } : statusOf(status ?? 'failed', undefined)
  const said = texts
    .filter((text) => text !== '')
    .map((text, at) => messageItem(`msg_${id.slice(-16)}_${at}`, 'completed', [text]))
  const output = [...said, ...calls.map((call, at) => callItem(call, `fc_${id.slice(-16)}_${at}`))]
  const responding = { model, sessionId, previous: null, metadata: {}, created: Math.floor(startedAt / 1000) }
  const completed = endedAt === undefined ? {} : { completed: Math.floor(endedAt / 1000) }
  return responseOf(responding, { ...end, ...completed, id, output, usage })
}

function textIn(content: Message['content']): string {
  if (typeof content === 'string') return content
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
}

/** Clients of Open Responses take no null for `param`. */
function responseError(problem: Problem): object {
  const { error } = errorBody(problem)
  return { error: { ...error, param: '' } }
}

function previousOf({ previous_response_id: id, conversation, store }: Record<string, unknown>): string | undefined {
  if (conversation !== undefined && conversation !== null)
    throw fail('request.invalid', 'Conversations are not served: go on with `previous_response_id`.')
  if (id === undefined || id === null) return undefined
  if (typeof id !== 'string') throw fail('request.invalid', 'The field `previous_response_id` is the id of a response.')
  if (store === false) throw fail('request.invalid', 'A response that goes on with another one is stored, like that.')
  return id
}

/**
 * The session of the response before, at its end; where that is not the last one, a session that branches off behind it, but
 * for results, which count once.
 */
async function sessionOf(host: Host, asks: Visit, previous: string | undefined, areResults: boolean): Promise<string> {
  const fresh = `response-${crypto.randomUUID()}`
  if (previous === undefined) return fresh
  const run = runOf(previous)
  const key = keyOf(asks, run?.sessionId ?? fresh)
  const turn = run && (await host.sessions.find(key, { turnId: run.turnId }))
  if (run === undefined || turn?.endedAt === undefined)
    throw fail('session.not_found', `There is no response ${JSON.stringify(previous.slice(0, 200))} of yours.`)
  const { rest } = await isThere(host, key)
  if (areResults || rest.runCount === turn.rest.runCount) return run.sessionId
  await fork(host, asks, { from: run.sessionId, to: fresh, at: run.turnId })
  return fresh
}
