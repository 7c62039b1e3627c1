import type { Part } from '@allium/core'
import { bytesOf } from '@allium/core/internal'
import type { CallToolResult } from '@modelcontextprotocol/client'

type Block = CallToolResult['content'][number]

/** Returns the content of a result for the model: text, or parts if there are several blocks, an image or a file. */
export function contentOf({ content, structuredContent }: CallToolResult): string | Part[] {
  if (content.length === 0) return structuredContent === undefined ? '' : JSON.stringify(structuredContent)
  const parts = content.map(partOf)
  const [first] = parts
  return parts.length === 1 && first?.type === 'text' ? first.text : parts
}

function partOf(block: Block): Part {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'image':
      return { type: 'image', data: block.data, mediaType: block.mimeType }
    case 'audio':
      return { type: 'file', data: block.data, mediaType: block.mimeType }
    case 'resource':
      return resourcePart(block.resource)
    case 'resource_link':
      return { type: 'text', text: linkText(block) }
  }
}

function resourcePart(resource: Extract<Block, { type: 'resource' }>['resource']): Part {
  const { uri, mimeType = 'application/octet-stream' } = resource
  if ('text' in resource) return { type: 'text', text: `${uri}\n${resource.text}` }
  const { blob: data } = resource
  const text = decoded(data, mimeType)
  if (text !== undefined) return { type: 'text', text: `${uri}\n${text}` }
  if (mimeType.startsWith('image/')) return { type: 'image', data, mediaType: mimeType }
  const filename = uri.split(/[?#]/)[0]?.split('/').at(-1)
  return { type: 'file', data, mediaType: mimeType, ...(filename && { filename }) }
}

/** Returns the text of a text file: guards read texts, and few models take other files. Undefined for bytes that are not UTF-8. */
function decoded(base64: string, mediaType: string): string | undefined {
  if (!/^text\/|[/+](x-)?(json|ndjson|xml|yaml|csv|javascript|sql)\b/i.test(mediaType)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytesOf(base64))
  } catch {
    return undefined
  }
}

/** Returns a link as text. It is not fetched; the model can request it. */
function linkText({ name, title, uri, mimeType, description }: Extract<Block, { type: 'resource_link' }>): string {
  const kind = mimeType === undefined ? '' : ` (${mimeType})`
  return `${title ?? name}: ${uri}${kind}${description === undefined ? '' : `\n${description}`}`
}
