import type { Message, ModelChunk, Part, ProviderMetadata } from '@allium/core'

/** An answer as the next step sends it back. */
export function messageOf(chunks: ModelChunk[]): Message {
  const parts = new Map<string, Part>()
  const json = new Map<string, string>()
  for (const chunk of chunks) {
    const { providerMetadata } = chunk
    if (chunk.type === 'text-delta' || chunk.type === 'reasoning-delta') {
      const type = chunk.type === 'text-delta' ? 'text' : 'reasoning'
      const key = `${type}:${chunk.id}`
      const part = parts.get(key) as Extract<Part, { type: 'text' | 'reasoning' }> | undefined
      parts.set(key, { ...part, type, text: (part?.text ?? '') + chunk.delta, ...merged(part, providerMetadata) })
    } else if (chunk.type === 'tool-input-start') {
      const { callId, name } = chunk
      parts.set(callId, { type: 'tool-call', callId, name, args: {}, ...merged(undefined, providerMetadata) })
    } else if (chunk.type === 'tool-input-delta') {
      json.set(chunk.callId, (json.get(chunk.callId) ?? '') + chunk.delta)
    } else if (chunk.type === 'tool-input-end') {
      const part = parts.get(chunk.callId)!
      Object.assign(part, { args: JSON.parse(json.get(chunk.callId) ?? '{}') }, merged(part, providerMetadata))
    }
  }
  return { role: 'assistant', content: [...parts.values()] }
}

function merged(part: Part | undefined, more: ProviderMetadata | undefined): { providerMetadata?: ProviderMetadata } {
  const providerMetadata = { ...part?.providerMetadata, ...more }
  return Object.keys(providerMetadata).length === 0 ? {} : { providerMetadata }
}
