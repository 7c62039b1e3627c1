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
  const { text, reasoning } = answer
  const toolCalls = answer.toolCalls()
  return {
    text,
    ...(reasoning !== undefined && { reasoning }),
    toolCalls,
    finishReason: reason,
    usage: noUsage(),
    model,
    message: answer.message(toolCalls),
    ...(rawReason !== undefined && { rawFinishReason: rawReason }),
    ...(responseId !== undefined && { responseId }),
    ...(providerMetadata !== undefined && { providerMetadata }),
    ...(warnings !== undefined && { warnings }),
  }
}
