import { readResumedCalls } from '../approvals/resumed-calls.ts'
import type { Access, Limits, RunControl, Stores } from '../host/host.ts'
import type { Frame } from '../http/sse.ts'
import { imageBody } from '../request/body.ts'
import { keyOf, resolveCaller } from '../request/caller.ts'
import { endOfHistory } from '../request/read-history.ts'
import { route } from '../request/route.ts'
import type { Serve } from '../request/router.ts'
import { resumeStream } from '../response/resume-stream.ts'
import { type FrameWriter, type StreamProtocol, streamRun } from '../response/stream.ts'
import { displayMessages } from '../sessions/display-messages.ts'
import type { UiChunk } from '../sessions/ui-messages.ts'
import { chatBody } from './chat-request.ts'
import { emptyStream } from './empty-stream.ts'
import { replayMessage } from './replay.ts'
import { requestedRun } from './requested-run.ts'
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
    const { body } = await read()
    const request = await requestedRun(host, caller, body)
    const start = () => host.runs.start({ ...caller, sessionId: body.id, onRetryAfterOutput, ...request })
    return streamRun(host, caller, start, protocol)
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
