import type { Model, ModelChunk, ModelRequest } from '@allium/core'

/** A request with nothing special in it. */
export function request(over: Partial<ModelRequest> = {}): ModelRequest {
  return {
    messages: [{ role: 'user', content: 'hello' }],
    tools: [],
    toolChoice: 'auto',
    settings: {},
    responseFormat: { type: 'text' },
    signal: new AbortController().signal,
    principal: undefined,
    ...over,
  }
}

export function ask(text: string): ModelRequest {
  return request({ messages: [{ role: 'user', content: text }] })
}

/** The chunks of one call, and what it threw. */
export async function call(model: Model, asked = request()): Promise<{ chunks: ModelChunk[]; error?: unknown }> {
  const chunks: ModelChunk[] = []
  try {
    for await (const chunk of model.stream(asked)) chunks.push(chunk)
    return { chunks }
  } catch (error) {
    return { chunks, error }
  }
}
