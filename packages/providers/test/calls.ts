import type { Message, Model, ModelChunk, ModelRequest, Part, ToolDef } from '@allium/core'

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
export async function failureOf(model: Model, over: Partial<ModelRequest> = {}, seen: ModelChunk[] = []): Promise<unknown> {
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

/** The answer as the next step sends it back. */
export function messageOf(chunks: ModelChunk[]): Message {
  const parts = new Map<string, Part & { json?: string }>()
  for (const chunk of chunks) {
    if (chunk.type === 'text-delta' || chunk.type === 'reasoning-delta') {
      const type = chunk.type === 'text-delta' ? 'text' : 'reasoning'
      const part = parts.get(`${type}:${chunk.id}`) ?? { type, text: '' }
      parts.set(`${type}:${chunk.id}`, { ...part, text: (part as { text: string }).text + chunk.delta, ...metadata(part, chunk) })
    } else if (chunk.type === 'tool-input-start') {
      const { callId, name, providerExecuted } = chunk
      parts.set(callId, { type: 'tool-call', callId, name, args: {}, json: '', ...(providerExecuted && { providerExecuted }), ...metadata(undefined, chunk) })
    } else if (chunk.type === 'tool-input-delta') parts.get(chunk.callId)!.json += chunk.delta
    else if (chunk.type === 'tool-input-end') Object.assign(parts.get(chunk.callId)!, metadata(parts.get(chunk.callId), chunk))
    else if (chunk.type === 'tool-result') parts.set(`result:${chunk.callId}`, chunk)
  }
  return { role: 'assistant', content: [...parts.values()].map(parsed) }
}

function parsed({ json, ...part }: Part & { json?: string }): Part {
  return part.type === 'tool-call' ? { ...part, args: JSON.parse(json || '{}') } : part
}

function metadata(first: Part | undefined, { providerMetadata }: ModelChunk) {
  return providerMetadata === undefined ? {} : { providerMetadata: { ...first?.providerMetadata, ...providerMetadata } }
}
