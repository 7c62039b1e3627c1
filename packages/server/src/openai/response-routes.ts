import type { DisplayTransform, Message, PendingCall, StoredTurn } from '@allium/core'
import { ran } from '../agent-names.ts'
import type { Host } from '../host.ts'
import { blockedProblem, fail } from '../http/problem.ts'
import type { Serve } from '../http/router.ts'
import { fork } from '../native/fork.ts'
import { isThere } from '../native/is-there.ts'
import { waitingIn } from '../native/waiting.ts'
import { imageBody } from '../request/body.ts'
import { type AskedOf, route } from '../request/route.ts'
import { text } from '../request/schema.ts'
import type { Asked, RunRequest } from '../run/asked.ts'
import { streamOf } from '../run/reading.ts'
import { resultOf } from '../run/result.ts'
import { showOf } from '../run/show-of.ts'
import { keyOf, mayUse, principalOf, type Visit, visit } from '../visit.ts'
import { chatHistory, resultsAt } from './asked.ts'
import { responseBody } from './bodies.ts'
import { callableTools, handedBack, handedTo, resultsFor, type WireCall } from './handed-back.ts'
import type { ChatMessage } from './messages.ts'
import { callItem, messageItem, type Responding, responseOf, statusOf } from './response.ts'
import { responseFrames } from './response-frames.ts'
import { responseId, runOf } from './response-id.ts'

const routes = {
  stored: route({
    method: 'get',
    path: '/v1/responses/:id',
    summary: 'A response that is kept',
    params: { id: text() },
    answers: { 200: 'Foreign' },
    isForeign: true,
  }),
  create: route({
    method: 'post',
    path: '/v1/responses',
    summary: 'Asks an agent as a response',
    body: responseBody,
    bodyName: 'responseBody',
    minBody: imageBody,
    answers: { 200: 'Foreign' },
    streams: 'asked',
    isForeign: true,
  }),
}

/** The route of OpenAI's Responses, which others speak as Open Responses. */
export function responseRoutes(serve: Serve, host: Host): void {
  const now = () => Math.floor(host.clock.now() / 1000)

  serve(routes.stored, async (c, read) => {
    const principal = await principalOf(host, c.req.raw)
    const { id } = (await read()).params
    const run = runOf(id)
    for (const model of run === undefined ? [] : host.agents.keys()) {
      if (!(await mayUse(host, principal, model))) continue
      const asks = await visit(host, c.req.raw, model)
      const turn = await host.sessions.find(keyOf(asks, run?.sessionId ?? ''), { turnId: run?.turnId ?? '' })
      if (turn === undefined || run === undefined || !ran(asks.agent, turn)) continue
      const left = turn.status === 'suspended' ? await waitingBehind(host, asks, run.sessionId, turn) : []
      const calls = await handedBack(host, asks, left, host.options.secret !== undefined)
      const show = await showOf(asks.agent, keyOf(asks, run.sessionId), host.logger)
      return c.json(storedResponse(turn, calls, { id, model, sessionId: run.sessionId, show }))
    }
    throw notStored(id)
  })

  serve(routes.create, async (c, read) => {
    await principalOf(host, c.req.raw)
    const { body } = await read()
    const { model, stream = false, store = true, previous_response_id: previous, metadata = {} } = body
    const asks = await visit(host, c.req.raw, model)
    const tools = callableTools(body, host, store)
    const { sessionId, what } = await requestOf(host, asks, body)
    const format = body.text?.format
    const given = { format, previous: previous ?? null, metadata, tools }
    const responding: Responding = { model, sessionId, ...given, created: now() }
    const idOf = (turnId: string) =>
      sessionId === undefined ? `resp_${crypto.randomUUID()}` : responseId({ sessionId, turnId })
    const asked: Asked = {
      ...asks,
      sessionId,
      ...what,
      clientTools: tools,
      output: format?.schema,
      ...(stream && { resets: 'refuse' }),
      onDisconnect: 'abort',
    }
    const isBranch = previous !== undefined && sessionId !== undefined && sessionId !== runOf(previous)?.sessionId
    // Nobody knows the branch of a run that never began.
    const forget = async () => (isBranch ? host.sessions.delete(keyOf(asks, sessionId)) : undefined)
    const begin = async () => {
      const pump = await host.runs.begin(asked)
      pump.started.catch(forget).catch(() => {})
      return pump
    }
    // Whoever sends its whole history next time has nothing but the ids.
    const isSealed = host.options.secret !== undefined
    const callsOfPending = (pending: readonly PendingCall[]) => handedBack(host, asks, pending, isSealed)
    const frames = () => responseFrames(responding, { now, idOf, callsOfPending })
    if (stream) return streamOf(host, asks, begin, { frames })
    const { status, text, turnId, usage, pending, ...end } = await resultOf(await begin(), c.req.raw.signal)
    const said = text === '' ? [] : [messageItem(`msg_${crypto.randomUUID()}`, 'completed', [text])]
    const calls = await callsOfPending(pending)
    const output = [...said, ...calls.map((call) => callItem(call, `fc_${crypto.randomUUID()}`))]
    const state = { ...statusOf(status, undefined), id: idOf(turnId), output, completed: now(), usage }
    return blockedProblem(end) ?? c.json(responseOf(responding, state))
  })
}

/** What is asked, and in which session: undefined for one that is not stored. */
async function requestOf(
  host: Host,
  asks: Visit,
  { previous_response_id: previous, store = true, input }: AskedOf<typeof routes.create>['body'],
): Promise<{ sessionId: string | undefined; what: RunRequest }> {
  if (previous !== undefined && !store)
    throw fail('request.invalid', 'A response that goes on with another one is stored, like that.', { field: 'store' })
  const { since, results } = previous === undefined ? { since: input, results: [] } : saidBehind(input)
  if (!store || results.length === 0) {
    // Before a session branches off: what is refused stores nothing.
    const input = await chatHistory(since, (calls) => handedTo(host, asks, calls), 'input')
    const sessionId = store ? await sessionOf(host, asks, previous, false) : undefined
    return { sessionId, what: { input } }
  }
  const sessionId = await sessionOf(host, asks, previous, true)
  const waiting = await waitingIn(asks, sessionId, await isThere(host, keyOf(asks, sessionId)))
  return { sessionId, what: { decisions: await resultsFor(host, asks, waiting, results) } }
}

/** What a client says behind a response: the results of calls that were handed back with it, else what it says since. */
function saidBehind(messages: readonly ChatMessage[]): {
  since: readonly ChatMessage[]
  results: ReturnType<typeof resultsAt>
} {
  const from = messages.findLastIndex(({ role }) => role === 'assistant') + 1
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
  { id, model, sessionId, show }: { id: string; model: string; sessionId: string | undefined; show: DisplayTransform },
): object {
  const texts = messages.flatMap(({ role, content }) => (role === 'assistant' ? [show(textIn(content))] : []))
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

function notStored(id: string) {
  return fail('session.not_found', `There is no response ${JSON.stringify(id.slice(0, 200))} of yours.`)
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
  if (run === undefined || turn?.endedAt === undefined) throw notStored(previous)
  const { rest } = await isThere(host, key)
  if (areResults || rest.runCount === turn.rest.runCount) return run.sessionId
  await fork(host, asks, { from: run.sessionId, to: fresh, at: run.turnId })
  return fresh
}
