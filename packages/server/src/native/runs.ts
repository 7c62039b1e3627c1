import { type RunKey, type SessionKey, toJson } from '@allium/core'
import { ran } from '../agent-names.ts'
import type { Host } from '../host.ts'
import { blockedProblem, fail, type Problem } from '../http/problem.ts'
import type { Serve } from '../http/router.ts'
import type { RunRequest } from '../run/asked.ts'
import { jsonIn } from '../run/json-answer.ts'
import { type Protocol, resumedOf, streamOf } from '../run/reading.ts'
import { resultOf } from '../run/result.ts'
import { type Ctx, type Visit, visit } from '../visit.ts'
import { isThere } from './is-there.ts'
import { ownKey } from './may-read.ts'
import { routes } from './routes.ts'
import { nativeFrames } from './stream.ts'
import { openedPending } from './waiting.ts'

const protocol: Protocol = { frames: nativeFrames }

/** The routes by which a run begins, is followed and is stopped. */
export function runRoutes(serve: Serve, host: Host): void {
  serve(routes.run, async (c, read) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const { params, query, body, headers } = await read()
    ownKey(asks, params.id, query.owner)
    return run(c, asks, { ...body, idempotencyKey: headers['idempotency-key'] }, headers.accept)
  })

  serve(routes.decisions, async (c, read) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const { params, query, body, headers } = await read()
    await isThere(host, ownKey(asks, params.id, query.owner))
    return run(c, asks, { ...body, idempotencyKey: headers['idempotency-key'] }, headers.accept)
  })

  serve(routes.events, async (c, read) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const { params, query, headers } = await read()
    const isOwn = query.owner === undefined || query.owner === asks.owner
    const stream = isOwn && (await resumedOf(host, asks, params.id, headers['last-event-id'], protocol))
    return stream || c.body(null, 204)
  })

  stopRoute(serve, host, routes.stop)
  steerRoute(serve, host, routes.steer)

  async function run(c: Ctx, asks: Visit, asked: RunRequest, streams: boolean): Promise<Response | Problem> {
    const sessionId = c.req.param('id') as string
    const begin = () => host.runs.begin({ ...asks, ...asked, sessionId })
    if (streams) return streamOf(host, asks, begin, protocol)
    const result = await resultOf(await begin(), c.req.raw.signal)
    const pending = await openedPending(host, asks, sessionId, result.pending)
    const output = asked.output && result.status === 'completed' ? { output: jsonIn(result.text) } : {}
    const told = toJson({ ...result, ...output, pending })
    return blockedProblem(result) ?? c.body(told, 200, { 'content-type': 'application/json' })
  }
}

/** The route that stops what runs in a session. */
export function stopRoute(serve: Serve, host: Host, route: typeof routes.stop): void {
  serve(route, async (c, read) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const { params, query } = await read()
    const key = ownKey(asks, params.id, query.owner)
    const run = await goingOn(host, key)
    const isHeard = run !== undefined && (await isOwn(host, asks, run))
    if (isHeard && (await host.runs.stop(run, asks))) return c.json({ stopped: true }, 202)
    await isThere(host, key)
    throw fail('run.not_running', 'Nothing runs in this session.')
  })
}

/** The route by which a message reaches the run that goes on; what became of it comes in that run's stream, by its id. */
export function steerRoute(serve: Serve, host: Host, route: typeof routes.steer): void {
  serve(route, async (c, read) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const { params, query, body } = await read()
    const { message, id = crypto.randomUUID() } = body
    const key = ownKey(asks, params.id, query.owner)
    const run = await goingOn(host, key)
    const isHeard = run !== undefined && (await isOwn(host, asks, run))
    if (isHeard) host.runs.steers.count(run, id, message)
    if (isHeard && (await host.events.signal(run, { steer: message, id }))) return c.json({ id }, 202)
    await isThere(host, key)
    throw fail('run.not_running', 'Nothing runs in this session: ask it as the next input.')
  })
}

/** Where agents share a history, a run is reached only through the agent that runs it. */
async function isOwn({ sessions, runs }: Host, asks: Visit, { key, turnId }: RunKey): Promise<boolean> {
  if (asks.agent.sessionGroup === undefined) return true
  const agent = runs.agentOf(key, turnId)
  if (agent !== undefined) return agent === asks.agent
  return ran(asks.agent, await sessions.find(key, { turnId })) || (await runs.lasting(turnId, asks)) !== undefined
}

/** Asks the session's last run to stop, whichever agent and process runs it; false where nothing runs. */
export async function stop(host: Host, asks: Visit, key: SessionKey): Promise<boolean> {
  const run = await goingOn(host, key)
  return run !== undefined && host.runs.stop(run, asks)
}

async function goingOn({ events }: Host, key: SessionKey): Promise<RunKey | undefined> {
  const latest = await events.latest(key)
  return latest === undefined || latest.ended ? undefined : { key, turnId: latest.turnId }
}
