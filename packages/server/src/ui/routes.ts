import type { Decision } from '@allium/core'
import { pendingCallsOf } from '../approvals/pending-calls.ts'
import { readResumedCalls } from '../approvals/resumed-calls.ts'
import type { Access, Limits, RunControl, StoreReader, Stores } from '../host/host.ts'
import { requestError } from '../http/problem.ts'
import type { Frame } from '../http/sse.ts'
import { imageBody } from '../request/body.ts'
import { type Caller, keyOf, resolveCaller } from '../request/caller.ts'
import { endOfHistory } from '../request/read-history.ts'
import { requireSession } from '../request/require-session.ts'
import { route } from '../request/route.ts'
import type { Serve } from '../request/router.ts'
import { resumeStream } from '../response/resume-stream.ts'
import { emptyStream, type FrameWriter, type StreamProtocol, streamRun } from '../response/stream.ts'
import type { RunRequest } from '../run/run-request.ts'
import { displayMessages } from '../sessions/display-messages.ts'
import { namedRequest } from '../sessions/named-message.ts'
import type { UiChunk } from '../sessions/ui-messages.ts'
import { type CallResponses, chatBody, type UserMessage } from './chat-request.ts'
import { replayMessage } from './replay.ts'
import { steerChunksOf } from './steers.ts'
import { type UiVersion, UiWriter } from './ui-writer.ts'

const routes = {
  chat: route({
    method: 'post',
    path: '/chat',
    summary: 'Start a run with the newest message of an AI SDK chat, or resume one with its decisions',
    body: chatBody,
    bodyName: 'chatBody',
    minBody: imageBody,
    answers: { 200: 'Events' },
    streams: 'always',
    ignoresUnknown: true,
  }),
  stream: route({
    method: 'get',
    path: '/chat/:id/stream',
    summary: 'Follow the latest run, as an AI SDK chat does after a reload',
    answers: { 200: 'Events', 204: null },
    streams: 'always',
    ignoresUnknown: true,
  }),
}

/** Adds the routes for `DefaultChatTransport` of the AI SDK, with `/chat` as its `api`. The stop of a chat only disconnects. */
export function uiRoutes(serve: Serve, host: Access & Stores & RunControl & Limits, version: UiVersion): void {
  const protocol: StreamProtocol = { frames: () => uiFrames(version), headers, withoutReset: version === 6 }
  const onRetryAfterOutput = version === 6 ? 'fail' : 'reset'

  serve(routes.chat, async (c, read) => {
    const caller = await resolveCaller(host, c.req.raw, c.req.param('agent'))
    const { id, trigger, messages, clientTools } = (await read()).body
    const { userMessage, callResponses } = messages
    const request =
      callResponses === undefined
        ? { ...(await messageRequest(caller, id, userMessage, trigger === 'regenerate-message')), clientTools }
        : await newDecisions(host, caller, id, callResponses)
    return streamRun(
      host,
      caller,
      () => host.runs.start({ ...caller, sessionId: id, onRetryAfterOutput, ...request }),
      protocol,
    )
  })

  serve(routes.stream, async (c, read) => {
    const caller = await resolveCaller(host, c.req.raw, c.req.param('agent'))
    const key = keyOf(caller, (await read()).params.id)
    const follow = async (replayedChunks?: readonly UiChunk[]) => {
      const steers = isHead ? undefined : await steerChunksOf(host, caller, key)
      const withSteers = { ...protocol, frames: () => uiFrames(version, replayedChunks, steers) }
      return (await resumeStream(host, caller, key.sessionId, undefined, withSteers)) ?? c.body(null, 204)
    }
    const isHead = c.req.method === 'HEAD'
    const resumedCalls = isHead ? undefined : await readResumedCalls(host, key, c.req.raw.signal)
    if (resumedCalls === undefined) return follow()
    const { messages, running } = await displayMessages(host, caller, key, { before: endOfHistory, limit: 1 })
    const last = messages.at(-1)
    if (last?.role !== 'assistant') return c.body(null, 204)
    const answerChunks = [...replayMessage(last)]
    if (!running)
      return emptyStream(host, caller, {
        ...protocol,
        frames: () => uiFrames(version, [...answerChunks, ...finishChunks]),
      })
    return follow(answerChunks)
  })

  async function messageRequest(
    caller: Caller,
    sessionId: string,
    { id, previous, content }: UserMessage,
    again: boolean,
  ): Promise<RunRequest> {
    if (id !== undefined)
      return namedRequest(host, caller, sessionId, {
        id,
        previous,
        again,
        content: again ? parsed(content) : content(),
      })
    if (!again) return { input: { role: 'user', content: content() } }
    throw requestError('request.invalid', 'A message without an id cannot be answered again. Send its id.')
  }
}

const headers = { 'x-vercel-ai-ui-message-stream': 'v1' }
const finishChunks: readonly UiChunk[] = [{ type: 'finish-step' }, { type: 'finish' }]

/**
 * @param replayedChunks the answer that the run continues
 * @param steers the steering messages of the run, for a page that does not have them
 */
function uiFrames(
  version: UiVersion,
  replayedChunks: readonly UiChunk[] = [],
  steers?: ReadonlyMap<string, UiChunk>,
): FrameWriter {
  const writer = new UiWriter(version, { isContinuation: replayedChunks.length > 0, steers })
  return {
    begin: () => replayedChunks.map((chunk) => ({ data: JSON.stringify(chunk) })),
    write: (entry) => framesOf(writer.write(entry)),
    end: () => [{ data: '[DONE]' }],
    isDone: () => writer.done,
  }
}

/** Not a method of the literal: a generator function that is created per request stays in memory until a full collection. */
function* framesOf(chunks: Iterable<UiChunk>): Generator<Frame> {
  for (const chunk of chunks) yield { data: JSON.stringify(chunk) }
}

/** Returns undefined for content that cannot be parsed. The stored message then has it, for example the file behind a link. */
function parsed<T>(content: () => T): T | undefined {
  try {
    return content()
  } catch {
    return undefined
  }
}

/**
 * Returns the new decisions. With each new one, a page sends its old decisions and the outputs of all tools again. Outputs count only
 * for calls that the page was given. If no decision is new, they are rejected as used.
 */
async function newDecisions(
  host: StoreReader,
  caller: Caller,
  id: string,
  { decisions, results }: CallResponses,
): Promise<RunRequest> {
  const key = keyOf(caller, id)
  const stored = await host.sessions.head(key)
  if (stored === undefined && Object.keys(decisions).length === 0)
    throw requestError('request.invalid', 'A page can send tool outputs only for calls that it received.')
  const { rest } = stored ?? (await requireSession(host, key))
  const newEntries = (await pendingCallsOf(host, caller, key, { rest })).flatMap(
    ({ callId, client, token }): [string, Decision][] => {
      const response = client === true ? results[callId] : decisions[callId]
      if (response === undefined) return []
      return [[callId, client === true && token !== undefined ? { ...response, token } : response]]
    },
  )
  const clientTools = rest.suspension?.clientTools
  if (newEntries.length > 0) return { decisions: Object.fromEntries(newEntries), clientTools }
  if (Object.keys(decisions).length > 0) return { decisions }
  throw requestError(
    'approval.used',
    'No call is waiting for an output of this page. Each output can be sent only once.',
  )
}
