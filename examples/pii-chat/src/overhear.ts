import type { Message, Model, ModelChunk } from 'allium'

/** A model that records its requests and answers, inside all layers. */
export function overhear(model: Model) {
  const recorded = { sent: [] as Message[], answered: [] as string[] }
  async function* listen(chunks: AsyncIterable<ModelChunk>): AsyncGenerator<ModelChunk> {
    for await (const chunk of chunks) {
      if (chunk.type === 'text-delta') recorded.answered.push(chunk.delta)
      yield chunk
    }
  }
  const recording: Model = {
    id: model.id,
    stream(request) {
      recorded.sent = structuredClone([...request.messages])
      return listen(model.stream(request))
    },
  }
  return { model: recording, recorded }
}
