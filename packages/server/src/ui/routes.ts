import type { Decision } from '@allium/core'
import type { Hono } from 'hono'
import type { Host } from '../host.ts'
import { refusing } from '../http/answer.ts'
import { readObject } from '../http/body.ts'
import { fail } from '../http/problem.ts'
import { isThere } from '../native/is-there.ts'
import { steerRoute, stopRoute } from '../native/runs.ts'
import { shownMessages } from '../native/shown-messages.ts'
import { waitingIn } from '../native/waiting.ts'
import type { Asked } from '../run/asked.ts'
import { type Frames, type Protocol, resumedOf, streamOf, toldAlone } from '../run/reading.ts'
import { resumedRun } from '../run/resumed-run.ts'
import { type Env, keyOf, type Visit, visit } from '../visit.ts'
import { type UiSaid, uiAsked } from './asked.ts'
import type { UiChunk } from './blocks.ts'
import { type UiVersion, UiWriter } from './chunks.ts'
import { replayed } from './replayed.ts'

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
    const follow = (of: Protocol) => resumedOf(host, asks, key.sessionId, undefined, of)
    const decided = await resumedRun(host, key)
    if (decided === undefined) return (await follow(protocol)) ?? c.body(null, 204)
    const { messages, running } = await shownMessages(host, asks, key)
    const last = messages.at(-1)
    if (last?.role !== 'assistant') return c.body(null, 204)
    const begun = [...replayed(last)]
    if (!running) return toldAlone(host, { ...protocol, frames: () => uiFrames(version, [...begun, ...ended]) })
    return (await follow({ ...protocol, frames: () => uiFrames(version, begun) })) ?? c.body(null, 204)
  })

  stopRoute(app, host, at, 'chat')
  steerRoute(app, host, at, 'chat')
}

const headers = { 'x-vercel-ai-ui-message-stream': 'v1' }
/** Images come in the body. */
const imageBody = 8 * 1_048_576

const ended: readonly UiChunk[] = [{ type: 'finish-step' }, { type: 'finish' }]

/** @param begun the answer that the run goes on with */
function uiFrames(version: UiVersion, begun: readonly UiChunk[] = []): Frames {
  const writer = new UiWriter(version, begun.length > 0)
  return {
    begin: () => begun.map((chunk) => ({ data: JSON.stringify(chunk) })),
    *write(entry) {
      for (const chunk of writer.write(entry)) yield { data: JSON.stringify(chunk) }
    },
    end: () => [{ data: '[DONE]' }],
    get over() {
      return writer.over
    },
  }
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
