import type { ModelChunk, ModelRequest, Usage } from '@allium/core'
import type { AiSdkModel, PartReader } from './ai-sdk-model.ts'
import { callOptions } from './call-options.ts'
import { withAdvice } from './error-advice.ts'
import { failure } from './failure.ts'
import type { FinishPart } from './finish.ts'
import { answerStart } from './foreign-parts.ts'
import { nextPart } from './next-part.ts'
import { Origin, type StreamedPart } from './origin.ts'
import { ProviderTools } from './provider-tools.ts'
import { RawEvents } from './raw-events.ts'
import { reportedUsage } from './reported-usage.ts'
import { StreamParts } from './stream-parts.ts'

/** Sends one request to a model of the AI SDK, and gives its stream in chunks. Leaving the iterator closes the socket. */
export async function* streamAiSdk(
  model: AiSdkModel,
  request: ModelRequest,
): AsyncGenerator<ModelChunk, void, undefined> {
  let reader: PartReader | undefined
  try {
    request.signal.throwIfAborted()
    const tools = new ProviderTools(request.tools)
    const options = await callOptions(model, request, tools)
    reader = (await model.doStream(options as never)).stream.getReader()
    const parts = new StreamParts(model, tools, new RawEvents())
    const origin = new Origin(model)
    let reported: Partial<Usage> = {}
    for (let read = await nextPart(reader); !read.done; read = await nextPart(reader)) {
      const part = read.value as StreamedPart
      if (part.type === 'finish') reported = reportedUsage(part as FinishPart, model)
      if (part.kind !== answerStart) for (const chunk of parts.chunks(origin.sign(part))) yield chunk
    }
    for (const chunk of parts.end())
      yield chunk.type === 'finish' ? { ...chunk, usage: { ...chunk.usage, ...reported } } : chunk
  } catch (error) {
    throw failure(withAdvice(error, model), request.signal)
  } finally {
    reader?.cancel().catch(() => {})
  }
}
