import type { Hono } from 'hono'
import type { Host } from '../host.ts'
import { refusing } from '../http/answer.ts'
import { readObject } from '../http/body.ts'
import { isThere } from '../native/is-there.ts'
import { notWaiting, waitingIn } from '../native/waiting.ts'
import { resultsFor } from '../openai/handed-back.ts'
import { streamOf } from '../run/reading.ts'
import { type Env, keyOf, type Visit, visit } from '../visit.ts'
import { type AguiAsked, aguiAsked, decisionsOf } from './asked.ts'
import { aguiFrames } from './events.ts'

/** The route that `HttpAgent` of AG-UI asks; its thread is a session of who asks. */
export function aguiRoutes(app: Hono<Env>, host: Host, at: string): void {
  app.post(
    `${at}/agui`,
    refusing(host)(async (c) => {
      const asks = await visit(host, c.req.raw, c.req.param('agent'))
      const { threadId, runId, input, clientTools, ...answers } = aguiAsked(
        await readObject(c.req.raw, Math.max(host.maxBody, imageBody)),
      )
      const what = input === undefined ? await decided(asks, threadId, answers) : { input }
      const asked = {
        ...asks,
        sessionId: threadId,
        clientTools,
        resets: 'refuse',
        onDisconnect: 'abort',
        ...what,
      } as const
      return streamOf(host, asks, await host.runs.begin(asked), {
        frames: () => aguiFrames({ threadId, runId }),
      })
    }),
  )

  async function decided(
    asks: Visit,
    threadId: string,
    { resume, results = [] }: Pick<AguiAsked, 'resume' | 'results'>,
  ) {
    const waiting = await waitingIn(asks, threadId, await isThere(host, keyOf(asks, threadId)))
    if (resume === undefined) return { decisions: await resultsFor(host, asks, waiting, results) }
    return { decisions: await decisionsOf(resume, waiting, (id) => notWaiting(host, asks, id)) }
  }
}

/** Images come in the body. */
const imageBody = 8 * 1_048_576
