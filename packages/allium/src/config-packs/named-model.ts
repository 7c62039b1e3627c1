import type { Model } from '@allium/core'
import { createResolver } from '@allium/providers'

const resolve = createResolver()

/** The model of a name such as `openai/gpt-5-mini`, found at its first call. */
export function namedModel(name: string): Model {
  return {
    id: name,
    async *stream(request) {
      const model = await resolve(name, { principal: request.principal })
      yield* model.stream(request)
    },
  }
}
