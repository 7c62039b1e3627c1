import { toJson } from '@allium/core'
import { pendingForReader } from '../approvals/pending-calls.ts'
import type { Access, Limits, RunControl, Stores } from '../host/host.ts'
import { blockedProblem, type Problem, requestError } from '../http/problem.ts'
import { type Caller, type Ctx, resolveCaller } from '../request/caller.ts'
import { requireSession } from '../request/require-session.ts'
import type { Serve } from '../request/router.ts'
import type { Infer } from '../request/schema.ts'
import { resumeStream } from '../response/resume-stream.ts'
import { type StreamProtocol, streamRun } from '../response/stream.ts'
import { awaitAnswer, parseJsonAnswer } from '../run/run-handle.ts'
import type { RunRequest } from '../run/run-request.ts'
import { namedRequest } from '../sessions/named-message.ts'
import type { runBody } from './bodies.ts'
import { controlRoutes } from './control.ts'
import { nativeFrames } from './native-frames.ts'
import { ownKey } from './own-key.ts'
import { routes } from './routes.ts'

const protocol: StreamProtocol = { frames: nativeFrames }

/** Adds the routes that start, resume, follow, stop and steer runs. */
export function runRoutes(serve: Serve, host: Access & Stores & RunControl & Limits): void {
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

  controlRoutes(serve, host, '/sessions/:id')

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
