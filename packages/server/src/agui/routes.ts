import type { Host } from '../host.ts'
import type { Serve } from '../http/router.ts'
import { isThere } from '../native/is-there.ts'
import { notWaiting, waitingIn } from '../native/waiting.ts'
import { resultsFor } from '../openai/handed-back.ts'
import { imageBody } from '../request/body.ts'
import { type AskedOf, route } from '../request/route.ts'
import type { RunRequest } from '../run/asked.ts'
import { streamOf } from '../run/reading.ts'
import { keyOf, type Visit, visit } from '../visit.ts'
import { decisionsOf, runInput, saidIn } from './asked.ts'
import { aguiFrames } from './events.ts'

const run = route({
  method: 'post',
  path: '/agui',
  summary: 'Begins a run for a client of AG-UI, or goes on with its answers to interrupts',
  body: runInput,
  bodyName: 'aguiBody',
  minBody: imageBody,
  answers: { 200: 'Events' },
  streams: 'always',
  isForeign: true,
})

/** The route that `HttpAgent` of AG-UI asks; its thread is a session of who asks. */
export function aguiRoutes(serve: Serve, host: Host): void {
  serve(run, async (c, read) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const { body } = await read()
    const { threadId, runId, tools: clientTools } = body
    const asked = { sessionId: threadId, clientTools, resets: 'refuse', onDisconnect: 'abort' } as const
    const what = await requestOf(asks, body)
    return streamOf(host, asks, () => host.runs.begin({ ...asks, ...asked, ...what }), {
      frames: () => aguiFrames({ threadId, runId }),
    })
  })

  async function requestOf(
    asks: Visit,
    { threadId, messages, resume = [] }: AskedOf<typeof run>['body'],
  ): Promise<RunRequest> {
    const waiting = async () => waitingIn(asks, threadId, await isThere(host, keyOf(asks, threadId)))
    if (resume.length > 0)
      return { decisions: await decisionsOf(resume, await waiting(), (id) => notWaiting(host, asks, id)) }
    const { input, results } = saidIn(messages)
    if (input !== undefined) return { input }
    return { decisions: await resultsFor(host, asks, await waiting(), results) }
  }
}
