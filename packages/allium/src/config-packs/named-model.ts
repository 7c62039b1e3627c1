import type { Model } from '@allium/core'
import { createResolver } from '@allium/providers'

const resolve = createResolver()

/** A model by name, such as `openai/gpt-5-mini`. Resolved at its first call. */
export function namedModel(name: string): Model {
  return {
    id: name,
    async *stream(request) {
      const model = await resolve(name, { principal: request.principal })
      yield* model.stream(request)
    },
  }
}
