import { type ContentChunk, type FinishChunk, type ModelResponse, noUsage } from '@allium/core'
import { Assembly } from '@allium/core/internal'

/** Assembles the response from chunks, for a layer that answers itself. */
export function assemble(
  chunks: readonly ContentChunk[],
  { reason, rawReason, responseId, providerMetadata, warnings }: FinishChunk,
  model: string,
): ModelResponse {
  const answer = new Assembly(model)
  for (const chunk of chunks) answer.add(chunk)
  return {
    ...answer.content(),
    finishReason: reason,
    usage: noUsage(),
    model,
    ...(rawReason !== undefined && { rawFinishReason: rawReason }),
    ...(responseId !== undefined && { responseId }),
    ...(providerMetadata !== undefined && { providerMetadata }),
    ...(warnings !== undefined && { warnings }),
  }
}
