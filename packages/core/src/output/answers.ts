import type { Middleware } from '../middleware/middleware.ts'
import type { ContentChunk } from '../model/chunk.ts'
import type { ResponseFormat } from '../model/model.ts'
import type { ToolCall } from '../model/response.ts'
import type { Pipe } from '../stream/transforms.ts'

/** Converts the final answer to the format with one more call, without tools. The first answer is not streamed. */
export function finalAnswer(format: ResponseFormat): Middleware {
  return {
    name: 'allium:output',
    reenters: true,
    async model(ctx, next) {
      ctx.hold()
      const { messages } = ctx
      const response = await next()
      if (response.paused === true || response.toolCalls.some(isOurs)) return response
      ctx.responseFormat = format
      ctx.toolDefs = []
      ctx.messages = [
        ...messages,
        ...(response.text === '' ? [] : [response.message]),
        { role: 'user', content: again },
      ]
      return next()
    },
  }
}

/** Whether the agent runs the call. A call that the provider ran is part of its answer and needs no further step. */
function isOurs({ providerExecuted }: ToolCall): boolean {
  return providerExecuted !== true
}

const again = 'Now give your answer in the requested form, and nothing else.'

/** Converts the call of the answer tool to the text of the answer, chunk by chunk. */
export function toolAnswer(name: string): Middleware {
  return {
    name: 'allium:output',
    async model(ctx, next) {
      ctx.pipe(asText(name))
      const response = await next()
      return response.toolCalls.length === 0 ? { ...response, finishReason: 'stop' } : response
    },
  }
}

/** Holds text back until it is clear that no answer call follows, because text before such a call is not part of the answer. */
function asText(name: string): Pipe {
  return async function* (chunks) {
    let waiting: ContentChunk[] = []
    const answers: string[] = []
    let empty = true
    for await (const chunk of chunks) {
      if (chunk.type === 'tool-input-start' && chunk.name === name) {
        answers.push(chunk.callId)
        waiting = []
      } else if ('callId' in chunk && answers.includes(chunk.callId)) {
        if (chunk.callId !== answers[0]) continue
        if (chunk.type === 'tool-input-delta') yield { type: 'text-delta', delta: chunk.delta }
        if (chunk.type === 'tool-input-end' && empty) yield { type: 'text-delta', delta: '{}' }
        empty = false
      } else if (chunk.type === 'text-delta') {
        if (answers.length === 0) waiting.push(chunk)
      } else {
        if (chunk.type === 'tool-input-start') yield* waiting.splice(0)
        yield chunk
      }
    }
    yield* waiting
  }
}
