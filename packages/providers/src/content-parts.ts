import type { Citation, ContentChunk, FileChunk, ProviderMetadata, ProviderToolResult, SourceChunk } from '@allium/core'

export interface ToolResultPart {
  toolCallId: string
  toolName: string
  result: unknown
  isError?: boolean
  preliminary?: boolean
  providerMetadata?: ProviderMetadata
}
export interface FilePart {
  type: 'file' | 'reasoning-file'
  mediaType: string
  data: string | Uint8Array | { type: 'data'; data: string | Uint8Array } | { type: 'url'; url: URL }
  providerMetadata?: ProviderMetadata
}
export interface SourcePart {
  id?: string
  url?: string
  title?: string
  mediaType?: string
  filename?: string
  providerMetadata?: ProviderMetadata
}
export interface CitationPart extends Omit<Citation, 'textId'> {
  source: SourcePart
}

export function toToolResult({
  toolCallId,
  toolName,
  result,
  isError,
  providerMetadata,
}: ToolResultPart): ProviderToolResult {
  const content = typeof result === 'string' ? result : (JSON.stringify(result) ?? '')
  const chunk: ProviderToolResult = { type: 'tool-result', callId: toolCallId, name: toolName, content }
  if (typeof result !== 'string' && content !== '') chunk.json = true
  if (isError === true) chunk.isError = true
  return withMetadata(chunk, providerMetadata)
}

/** v4 wraps the data in an object with its type. */
export function toFile({ type, mediaType, data, providerMetadata }: FilePart): FileChunk {
  const boxed = typeof data === 'object' && 'type' in data ? data : { type: 'data' as const, data }
  const chunk: FileChunk = { type: 'file', mediaType, data: boxed.type === 'url' ? boxed.url : boxed.data }
  if (type === 'reasoning-file') chunk.reasoning = true
  return withMetadata(chunk, providerMetadata)
}

export function toSource({ id, url, title, mediaType, filename, providerMetadata }: SourcePart): SourceChunk {
  const chunk: SourceChunk = { type: 'source' }
  if (id !== undefined) chunk.id = id
  if (url !== undefined) chunk.url = url
  if (title !== undefined) chunk.title = title
  if (mediaType !== undefined) chunk.mediaType = mediaType
  if (filename !== undefined) chunk.filename = filename
  return withMetadata(chunk, providerMetadata)
}

export function withMetadata<C extends ContentChunk>(chunk: C, providerMetadata: ProviderMetadata | undefined): C {
  if (providerMetadata !== undefined) chunk.providerMetadata = providerMetadata
  return chunk
}
