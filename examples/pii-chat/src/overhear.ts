import type { Message, Model, ModelChunk } from 'allium'

/** A model, and what it is sent and says: right before the provider, behind all layers. */
export function overhear(model: Model) {
  const heard = { sent: [] as Message[], said: [] as string[] }
  async function* listen(chunks: AsyncIterable<ModelChunk>): AsyncGenerator<ModelChunk> {
    for await (const chunk of chunks) {
      if (chunk.type === 'text-delta') heard.said.push(chunk.delta)
      yield chunk
    }
  }
  const overheard: Model = {
    id: model.id,
    stream(request) {
      heard.sent = structuredClone([...request.messages])
      return listen(model.stream(request))
    },
  }
  return { model: overheard, heard }
}
