import type { Decision } from '@allium/core'
import type { Host } from '../host.ts'
import { fail } from '../http/problem.ts'
import type { Serve } from '../http/router.ts'
import { isThere } from '../native/is-there.ts'
import { routes as native } from '../native/routes.ts'
import { steerRoute, stopRoute } from '../native/runs.ts'
import { shownMessages } from '../native/shown-messages.ts'
import { waitingIn } from '../native/waiting.ts'
import { imageBody } from '../request/body.ts'
import { route } from '../request/route.ts'
import type { RunRequest } from '../run/asked.ts'
import { type Frames, type Protocol, resumedOf, streamOf, toldAlone } from '../run/reading.ts'
import { resumedRun } from '../run/resumed-run.ts'
import { keyOf, type Visit, visit } from '../visit.ts'
import { chatBody, type UiSaid } from './asked.ts'
import type { UiChunk } from './blocks.ts'
import { type UiVersion, UiWriter } from './chunks.ts'
import { replayed } from './replayed.ts'
import { steersIn } from './steers.ts'

const routes = {
  chat: route({
    method: 'post',
    path: '/chat',
    summary: 'Begins a run with the newest message of a page of the AI SDK, or goes on with its decisions',
    body: chatBody,
    bodyName: 'chatBody',
    minBody: imageBody,
    answers: { 200: 'Events' },
    streams: 'always',
    isForeign: true,
  }),
  stream: route({
    method: 'get',
    path: '/chat/:id/stream',
    summary: 'Follows the last run as a page of the AI SDK does after a reload',
    answers: { 200: 'Events', 204: null },
    streams: 'always',
    isForeign: true,
  }),
  stop: { ...native.stop, path: '/chat/:id/stop' },
  steer: { ...native.steer, path: '/chat/:id/steer' },
}

/** The routes that `DefaultChatTransport` of the AI SDK asks, with `/chat` as its `api`; the stop of a chat only disconnects. */
export function uiRoutes(serve: Serve, host: Host, version: UiVersion): void {
  const protocol: Protocol = { frames: () => uiFrames(version), headers, resetless: version === 6 }
  const resets = version === 6 ? 'refuse' : 'allow'

  serve(routes.chat, async (c, read) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const { id, messages, clientTools } = (await read()).body
    const { input, said } = messages
    const what = said === undefined ? { input, clientTools } : await undecided(host, asks, id, said)
    return streamOf(host, asks, () => host.runs.begin({ ...asks, sessionId: id, resets, ...what }), protocol)
  })

  serve(routes.stream, async (c, read) => {
    const asks = await visit(host, c.req.raw, c.req.param('agent'))
    const key = keyOf(asks, (await read()).params.id)
    const follow = async (begun?: readonly UiChunk[]) => {
      const steers = isHead ? undefined : await steersIn(host, asks, key)
      const of = { ...protocol, frames: () => uiFrames(version, begun, steers) }
      return (await resumedOf(host, asks, key.sessionId, undefined, of)) ?? c.body(null, 204)
    }
    const isHead = c.req.method === 'HEAD'
    const decided = isHead ? undefined : await resumedRun(host, key, c.req.raw.signal)
    if (decided === undefined) return follow()
    const { messages, running } = await shownMessages(host, asks, key)
    const last = messages.at(-1)
    if (last?.role !== 'assistant') return c.body(null, 204)
    const begun = [...replayed(last)]
    if (!running) return toldAlone(host, asks, { ...protocol, frames: () => uiFrames(version, [...begun, ...ended]) })
    return follow(begun)
  })

  stopRoute(serve, host, routes.stop)
  steerRoute(serve, host, routes.steer)
}

const headers = { 'x-vercel-ai-ui-message-stream': 'v1' }
const ended: readonly UiChunk[] = [{ type: 'finish-step' }, { type: 'finish' }]

/**
 * @param begun the answer that the run goes on with
 * @param steers what the user said meanwhile, for a page that does not know it
 */
function uiFrames(version: UiVersion, begun: readonly UiChunk[] = [], steers?: ReadonlyMap<string, UiChunk>): Frames {
  const writer = new UiWriter(version, { begun: begun.length > 0, steers })
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
async function undecided(host: Host, asks: Visit, id: string, { decisions, results }: UiSaid): Promise<RunRequest> {
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
