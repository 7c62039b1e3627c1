import { type SessionKey, toJson } from '@allium/core'
import type { RunKey } from '@allium/store'
import { pendingForReader } from '../approvals/pending-calls.ts'
import { isRunOf } from '../host/agent-names.ts'
import type { Host } from '../host/host.ts'
import { blockedProblem, type Problem, requestError } from '../http/problem.ts'
import { type Caller, type Ctx, resolveCaller } from '../request/caller.ts'
import { requireSession } from '../request/require-session.ts'
import type { Serve } from '../request/router.ts'
import type { Infer } from '../request/schema.ts'
import { resumeStream } from '../response/resume-stream.ts'
import { type StreamProtocol, streamRun } from '../response/stream.ts'
import { awaitAnswer, parseJsonAnswer } from '../run/run-handle.ts'
import type { RunRequest } from '../run/run-request.ts'
import type { runBody } from './bodies.ts'
import { ownKey } from './can-read.ts'
import { namedRequest } from './named-message.ts'
import { nativeFrames } from './native-frames.ts'
import { routes } from './routes.ts'

const protocol: StreamProtocol = { frames: nativeFrames }

/** Adds the routes that start, resume, follow, stop and steer runs. */
export function runRoutes(serve: Serve, host: Host): void {
  serve(routes.run, async (c, read) => {
    const caller = await resolveCaller(host, c.req.raw, c.req.param('agent'))
    const { params, query, body, headers } = await read()
    ownKey(caller, params.id, query.owner)
    const request = await inputRequest(caller, params.id, body, headers['idempotency-key'])
    return run(c, caller, request, headers.accept)
  })

  serve(routes.decisions, async (c, read) => {
    const caller = await resolveCaller(host, c.req.raw, c.req.param('agent'))
    const { params, query, body, headers } = await read()
    await requireSession(host, ownKey(caller, params.id, query.owner))
    return run(c, caller, { ...body, idempotencyKey: headers['idempotency-key'] }, headers.accept)
  })

  serve(routes.events, async (c, read) => {
    const caller = await resolveCaller(host, c.req.raw, c.req.param('agent'))
    const { params, query, headers } = await read()
    const isOwnSession = query.owner === undefined || query.owner === caller.owner
    const stream = isOwnSession && (await resumeStream(host, caller, params.id, headers['last-event-id'], protocol))
    return stream || c.body(null, 204)
  })

  stopRoute(serve, host, routes.stop)
  steerRoute(serve, host, routes.steer)

  async function inputRequest(
    caller: Caller,
    sessionId: string,
    { input: content, messageId: id, ...settings }: Infer<typeof runBody>,
    idempotencyKey: string | undefined,
  ): Promise<RunRequest> {
    if (id !== undefined) {
      const message = { id, content, again: content === undefined, idempotencyKey }
      return { ...settings, ...(await namedRequest(host, caller, sessionId, message)) }
    }
    if (content === undefined)
      throw requestError('request.invalid', 'A run needs `input`, or the `messageId` of a stored message.')
    return { ...settings, input: typeof content === 'string' ? content : { role: 'user', content }, idempotencyKey }
  }

  async function run(c: Ctx, caller: Caller, request: RunRequest, streams: boolean): Promise<Response | Problem> {
    const sessionId = c.req.param('id') as string
    const start = () => host.runs.start({ ...caller, ...request, sessionId })
    if (streams) return streamRun(host, caller, start, protocol)
    const result = await awaitAnswer(await start(), c.req.raw.signal)
    const pending = await pendingForReader(host, caller, sessionId, result.pending)
    const output = request.output && result.status === 'completed' ? { output: parseJsonAnswer(result.text) } : {}
    const json = toJson({ ...result, ...output, pending })
    return blockedProblem(result) ?? c.body(json, 200, { 'content-type': 'application/json' })
  }
}

/** Adds the route that stops the active run of a session. */
export function stopRoute(serve: Serve, host: Host, route: typeof routes.stop): void {
  serve(route, async (c, read) => {
    const caller = await resolveCaller(host, c.req.raw, c.req.param('agent'))
    const { params, query } = await read()
    const key = ownKey(caller, params.id, query.owner)
    const run = await activeRun(host, key)
    const isSteerable = run !== undefined && (await isForCaller(host, caller, run))
    if (isSteerable && (await host.runs.stop(run, caller))) return c.json({ stopped: true }, 202)
    await requireSession(host, key)
    throw requestError('run.not_running', 'No run is active in this session.')
  })
}

/** Adds the route that sends a message to the active run. The run's stream reports the outcome by the message's id. */
export function steerRoute(serve: Serve, host: Host, route: typeof routes.steer): void {
  serve(route, async (c, read) => {
    const caller = await resolveCaller(host, c.req.raw, c.req.param('agent'))
    const { params, query, body } = await read()
    const { message, id = crypto.randomUUID() } = body
    const key = ownKey(caller, params.id, query.owner)
    const run = await activeRun(host, key)
    const isSteerable = run !== undefined && (await isForCaller(host, caller, run))
    if (isSteerable) host.runs.steerLimits.count(run, id, message)
    if (isSteerable && (await host.events.signal(run, { steer: message, id }))) return c.json({ id }, 202)
    await requireSession(host, key)
    throw requestError('run.not_running', 'No run is active in this session. Send the message as the next input.')
  })
}

/** If agents share a history, a run is reachable only through the agent that executes it. */
async function isForCaller({ sessions, runs }: Host, caller: Caller, { key, turnId }: RunKey): Promise<boolean> {
  if (caller.agent.sessionGroup === undefined) return true
  const agent = runs.agentOf(key, turnId)
  if (agent !== undefined) return agent === caller.agent
  return (
    isRunOf(caller.agent, await sessions.find(key, { turnId })) ||
    (await runs.durableStatus(turnId, caller)) !== undefined
  )
}

/** Stops the session's last run, whichever agent and process executes it. Returns false if no run is active. */
export async function stop(host: Host, caller: Caller, key: SessionKey): Promise<boolean> {
  const run = await activeRun(host, key)
  return run !== undefined && host.runs.stop(run, caller)
}

async function activeRun({ events }: Host, key: SessionKey): Promise<RunKey | undefined> {
  const latest = await events.latest(key)
  return latest === undefined || latest.ended ? undefined : { key, turnId: latest.turnId }
}
