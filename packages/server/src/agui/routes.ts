import type { Host } from '../host.ts'
import type { Serve } from '../http/router.ts'
import { pendingCallError, pendingCallsOf } from '../native/pending-calls.ts'
import { requireSession } from '../native/require-session.ts'
import { decisionsFromResults } from '../openai/client-tool-calls.ts'
import { imageBody } from '../request/body.ts'
import { type Caller, keyOf, resolveCaller } from '../request/caller.ts'
import { type RequestOf, route } from '../request/route.ts'
import type { RunRequest } from '../run/run-request.ts'
import { streamRun } from '../run/stream.ts'
import { aguiFrames } from './events.ts'
import { decisionsOf, requestIn, runInput } from './run-input.ts'

const run = route({
  method: 'post',
  path: '/agui',
  summary: 'Begins a run for a client of AG-UI, or goes on with its answers to interrupts',
  body: runInput,
  bodyName: 'aguiBody',
  minBody: imageBody,
  answers: { 200: 'Events' },
  streams: 'always',
  ignoresUnknown: true,
})

/** Adds the route for `HttpAgent` of AG-UI. Its thread is a session of the caller. */
export function aguiRoutes(serve: Serve, host: Host): void {
  serve(run, async (c, read) => {
    const caller = await resolveCaller(host, c.req.raw, c.req.param('agent'))
    const { body } = await read()
    const { threadId, runId, tools: clientTools } = body
    const settings = { sessionId: threadId, clientTools, onRetryAfterOutput: 'fail', onDisconnect: 'abort' } as const
    const request = await requestOf(caller, body)
    return streamRun(host, caller, () => host.runs.start({ ...caller, ...settings, ...request }), {
      frames: () => aguiFrames({ threadId, runId }),
    })
  })

  async function requestOf(
    caller: Caller,
    { threadId, messages, resume = [] }: RequestOf<typeof run>['body'],
  ): Promise<RunRequest> {
    const pendingCalls = async () =>
      pendingCallsOf(caller, threadId, await requireSession(host, keyOf(caller, threadId)))
    if (resume.length > 0)
      return { decisions: await decisionsOf(resume, await pendingCalls(), (id) => pendingCallError(host, caller, id)) }
    const { input, results } = requestIn(messages)
    if (input !== undefined) return { input }
    return { decisions: await decisionsFromResults(host, caller, await pendingCalls(), results) }
  }
}
