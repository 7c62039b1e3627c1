import { decisionsFromResults } from '../approvals/client-calls.ts'
import { pendingCallError, requirePendingCalls } from '../approvals/pending-calls.ts'
import type { Access, Limits, RunControl, Seals, Stores } from '../host/host.ts'
import { imageBody } from '../request/body.ts'
import { type Caller, resolveCaller } from '../request/caller.ts'
import { type RequestOf, route } from '../request/route.ts'
import type { Serve } from '../request/router.ts'
import { streamRun } from '../response/stream.ts'
import type { RunRequest } from '../run/run-request.ts'
import { namedRequest } from '../sessions/named-message.ts'
import { aguiFrames } from './events.ts'
import { decisionsOf, requestIn, runInput } from './run-input.ts'

const run = route({
  method: 'post',
  path: '/agui',
  summary: 'Start a run for an AG-UI client, or resume one with its answers to interrupts',
  body: runInput,
  bodyName: 'aguiBody',
  minBody: imageBody,
  answers: { 200: 'Events' },
  streams: 'always',
  ignoresUnknown: true,
})

/** Adds the route for `HttpAgent` of AG-UI. Its thread is a session of the caller. */
export function aguiRoutes(serve: Serve, host: Access & Stores & RunControl & Limits & Seals): void {
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
    { threadId, runId, messages, resume = [] }: RequestOf<typeof run>['body'],
  ): Promise<RunRequest> {
    const pendingCalls = () => requirePendingCalls(host, caller, threadId)
    if (resume.length > 0)
      return { decisions: await decisionsOf(resume, await pendingCalls(), (id) => pendingCallError(host, caller, id)) }
    const { userMessage, results } = requestIn(messages)
    if (userMessage !== undefined) {
      const { id, previous, content } = userMessage
      if (id === undefined) return { input: { role: 'user', content } }
      return namedRequest(host, caller, threadId, { id, previous, content, attempt: runId })
    }
    return { decisions: await decisionsFromResults(host, caller, await pendingCalls(), results) }
  }
}
