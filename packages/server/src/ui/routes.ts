import type { Decision, SessionKey } from '@allium/core'
import type { Entry } from '@allium/durable/log'
import type { Hono } from 'hono'
import type { Host } from '../host.ts'
import { refusing } from '../http/answer.ts'
import { readObject } from '../http/body.ts'
import { fail } from '../http/problem.ts'
import { isThere } from '../native/is-there.ts'
import { steerRoute, stopRoute } from '../native/runs.ts'
import { waitingIn } from '../native/waiting.ts'
import type { Asked } from '../run/asked.ts'
import { type Frames, type Protocol, resumedOf, streamOf } from '../run/reading.ts'
import { type Env, keyOf, type Visit, visit } from '../visit.ts'
import { type UiSaid, uiAsked } from './asked.ts'
import { type UiVersion, UiWriter } from './chunks.ts'

/** The routes that `DefaultChatTransport` of the AI SDK asks, with `/chat` as its `api`; the stop of a chat only disconnects. */
export function uiRoutes(app: Hono<Env>, host: Host, at: string, version: UiVersion): void {
  const protocol: Protocol = { frames: () => uiFrames(version), headers, resetless: version === 6 }
  const resets = version === 6 ? 'refuse' : 'allow'

  const refusal = refusing(host)

  app.post(
    `${at}/chat`,
    refusal(async (c) => {
      const asks = await visit(host, c.req.raw, c.req.param('agent'))
      const { id, asked, clientTools } = uiAsked(await readObject(c.req.raw, Math.max(host.maxBody, imageBody)))
      const { input, said } = asked
      const what = said === undefined ? { input, clientTools } : await undecided(host, asks, id, said)
      return streamOf(host, asks, await host.runs.begin({ ...asks, sessionId: id, resets, ...what }), protocol)
    }),
  )

  app.get(`${at}/chat/:id/stream`, async (c) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const key = keyOf(asks, c.req.param('id'))
    const stream = (await goesOn(host, key))
      ? undefined
      : await resumedOf(host, asks, key.sessionId, undefined, protocol)
    return stream ?? c.body(null, 204)
  })

  stopRoute(app, host, at, 'chat')
  steerRoute(app, host, at, 'chat')
}

const headers = { 'x-vercel-ai-ui-message-stream': 'v1' }
/** Images come in the body. */
const imageBody = 8 * 1_048_576

function uiFrames(version: UiVersion): Frames {
  const writer = new UiWriter(version)
  return {
    *write(entry) {
      for (const chunk of writer.write(entry)) yield { data: JSON.stringify(chunk) }
    },
    end: () => [{ data: '[DONE]' }],
    get over() {
      return writer.over
    },
  }
}

/** Whether the last run goes on with an earlier answer: alone it is no message that a page could show. */
async function goesOn({ events }: Host, key: SessionKey): Promise<boolean> {
  const latest = await events.latest(key)
  if (latest === undefined || latest.seq === 0) return false
  for await (const { event } of events.read({ key, turnId: latest.turnId }, 0))
    return ((event as Entry).event as { resumes?: string }).resumes !== undefined
  return false
}

/**
 * A page sends old decisions, and outputs of all tools, again with each new one: of outputs those count of calls that were
 * handed to it. Where none is new, they are refused as used.
 */
async function undecided(
  host: Host,
  asks: Visit,
  id: string,
  { decisions, results }: UiSaid,
): Promise<Pick<Asked, 'decisions' | 'clientTools'>> {
  const key = keyOf(asks, id)
  const stored = await host.sessions.load(key)
  if (stored === undefined && Object.keys(decisions).length === 0)
    throw fail('request.invalid', 'Outputs of tools are not taken from a page, but for calls that it was given.')
  const { rest } = stored ?? (await isThere(host, key))
  const fresh = (await waitingIn(asks, id, { rest })).flatMap(({ callId, client, token }): [string, Decision][] => {
    const said = client === true ? results[callId] : decisions[callId]
    if (said === undefined) return []
    return [[callId, client === true && token !== undefined ? { ...said, token } : said]]
  })
  const clientTools = rest.suspension?.clientTools
  if (fresh.length > 0) return { decisions: Object.fromEntries(fresh), clientTools }
  if (Object.keys(decisions).length > 0) return { decisions }
  throw fail('approval.used', 'No call waits for an output of this page: one counts once.')
}
