import type { Model } from '@allium/core'
import { fromAiSdk } from '@allium/providers'
import type { Part } from './written.ts'

/** A model whose package streams these parts, the raw events only if they are requested. It ends with `failure` if one is given. */
export function partsModel(parts: Part[], specificationVersion = 'v4', provider = 'acme.chat', failure?: Error): Model {
  return fromAiSdk({
    specificationVersion,
    provider,
    modelId: 'm-1',
    async doStream({ includeRawChunks }: { includeRawChunks?: boolean }) {
      const stream = new ReadableStream({
        start(controller) {
          for (const part of parts) if (part.type !== 'raw' || includeRawChunks === true) controller.enqueue(part)
          if (failure === undefined) controller.close()
        },
        pull: (controller) => controller.error(failure),
      })
      return { stream }
    },
  })
}
