import type { Middleware } from '../middleware/middleware.ts'
import type { ResponseFormat } from '../model/model.ts'
import type { ToolCall } from '../model/response.ts'

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
