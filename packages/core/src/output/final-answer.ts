import type { Middleware } from '../middleware/middleware.ts'
import type { ResponseFormat } from '../model/model.ts'
import type { ToolCall } from '../model/response.ts'

/** Puts the answer that ends the loop into a form by one more call, without tools. What the model said first is not streamed. */
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

/** A call that the provider ran is part of its answer: nothing follows it. */
function isOurs({ providerExecuted }: ToolCall): boolean {
  return providerExecuted !== true
}

const again = 'Now give your answer in the requested form, and nothing else.'
