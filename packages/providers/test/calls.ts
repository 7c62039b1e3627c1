import type { Model, ModelChunk, ModelRequest, ToolDef } from '@allium/core'

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

export const addTool: ToolDef = {
  name: 'add',
  description: 'Adds',
  jsonSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
}

export async function collect(model: Model, over: Partial<ModelRequest> = {}): Promise<ModelChunk[]> {
  const chunks: ModelChunk[] = []
  for await (const chunk of model.stream(request(over))) chunks.push(chunk)
  return chunks
}

/** What the call throws; the chunks that came before it are in `seen`. */
export async function failureOf(
  model: Model,
  over: Partial<ModelRequest> = {},
  seen: ModelChunk[] = [],
): Promise<unknown> {
  try {
    for await (const chunk of model.stream(request(over))) seen.push(chunk)
  } catch (error) {
    return error
  }
  throw new Error(`The call did not fail; it gave ${JSON.stringify(seen)}`)
}

export function textOf(chunks: ModelChunk[]): string {
  return chunks.map((chunk) => (chunk.type === 'text-delta' ? chunk.delta : '')).join('')
}

export function finishOf(chunks: ModelChunk[]) {
  const last = chunks.at(-1)
  if (last?.type !== 'finish') throw new Error(`The last chunk is ${JSON.stringify(last)}`)
  return last
}
