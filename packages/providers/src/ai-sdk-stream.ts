import type { ModelChunk, ModelRequest } from '@allium/core'
import type { AiSdkModel, PartReader } from './ai-sdk-model.ts'
import { callOptions } from './call-options.ts'
import { withAdvice } from './error-advice.ts'
import { failure, truncatedStream } from './failure.ts'
import { ProviderTools } from './provider-tools.ts'
import { RawEvents } from './raw-events.ts'
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
    for (let read = await next(reader); !read.done; read = await next(reader))
      for (const chunk of parts.chunks(read.value)) yield chunk
    for (const chunk of parts.end()) yield chunk
  } catch (error) {
    throw failure(withAdvice(error, model), request.signal)
  } finally {
    reader?.cancel().catch(() => {})
  }
}

/** Reads the next part. Cohere's package throws for arguments that were cut, while a malformed event is an `error` part. */
async function next(reader: PartReader): ReturnType<PartReader['read']> {
  try {
    return await reader.read()
  } catch (error) {
    const { name, text } = error as { name?: unknown; text?: unknown }
    throw name === 'AI_JSONParseError' && isCutJson(String(text)) ? truncatedStream(error) : error
  }
}

/** Whether more brackets are opened than closed, which is true for each beginning of an object. */
function isCutJson(text: string): boolean {
  const outsideStrings = text.replace(/"(\\.|[^"\\])*"?/g, '')
  return outsideStrings.split(/[{[]/).length > outsideStrings.split(/[}\]]/).length
}
