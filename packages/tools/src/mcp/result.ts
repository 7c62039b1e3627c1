import type { Part } from '@allium/core'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'

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
  if (mimeType.startsWith('image/')) return { type: 'image', data: resource.blob, mediaType: mimeType }
  const filename = uri.split(/[?#]/)[0]?.split('/').at(-1)
  return { type: 'file', data: resource.blob, mediaType: mimeType, ...(filename && { filename }) }
}

/** Returns a link as text. It is not fetched; the model can request it. */
function linkText({ name, title, uri, mimeType, description }: Extract<Block, { type: 'resource_link' }>): string {
  const kind = mimeType === undefined ? '' : ` (${mimeType})`
  return `${title ?? name}: ${uri}${kind}${description === undefined ? '' : `\n${description}`}`
}
