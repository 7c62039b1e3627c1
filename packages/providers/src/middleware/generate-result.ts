import type { GenerateResult, StreamPart } from './ai-sdk-middleware.ts'

/** Converts the parts of a complete stream to the result of `doGenerate`. */
export function toGenerateResult(parts: readonly StreamPart[]): GenerateResult {
  const content: StreamPart[] = []
  const open = new Map<unknown, StreamPart>()
  const result: GenerateResult = { content, warnings: [] }
  for (const part of parts) {
    const { type, id, delta, providerMetadata, citations } = part
    const [kind, event] = [type.replace(/-(start|delta|end)$/, ''), type.replace(/^.*-/, '')]
    if (kind === 'tool-input') continue
    if (kind === 'text' || kind === 'reasoning') {
      if (event === 'start') {
        const block = { type: kind, text: '' }
        open.set(id, block)
        content.push(block)
      }
      const block = open.get(id)
      if (block !== undefined && typeof delta === 'string') block.text += delta
      if (block !== undefined && citations !== undefined) block.citations = citations
      if (block !== undefined && providerMetadata !== undefined) block.providerMetadata = providerMetadata
    } else if (type === 'finish') Object.assign(result, { ...part, type: undefined })
    else if (type === 'stream-start') result.warnings = part.warnings
    else if (type === 'response-metadata') result.response = { id: String(id) }
    else content.push(part)
  }
  return result
}

/** Converts the result of `doGenerate` to the parts of a stream. */
export function fromGenerateResult(result: GenerateResult): StreamPart[] {
  const { content, finishReason, usage, providerMetadata, warnings, response } = result
  const parts: StreamPart[] = []
  if (Array.isArray(warnings) && warnings.length > 0) parts.push({ type: 'stream-start', warnings })
  if (typeof response?.id === 'string') parts.push({ type: 'response-metadata', id: response.id })
  parts.push(...content.flatMap((part, at) => contentParts(part, String(at))))
  parts.push({ type: 'finish', finishReason, usage, ...(providerMetadata !== undefined && { providerMetadata }) })
  return parts
}

function contentParts(part: StreamPart, id: string): StreamPart[] {
  const { type, text, providerMetadata, citations } = part
  if (type !== 'text' && type !== 'reasoning') return [part]
  return [
    { type: `${type}-start`, id, ...(providerMetadata !== undefined && { providerMetadata }) },
    { type: `${type}-delta`, id, delta: text },
    { type: `${type}-end`, id, ...(citations !== undefined && { citations }) },
  ]
}
