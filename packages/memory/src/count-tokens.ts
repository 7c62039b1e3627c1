import type { Message, Part } from '@allium/core'

/** Estimates the tokens of a message: one per 4 characters, and 1,000 for an image or a file. */
export function countTokens({ content }: Readonly<Message>): number {
  return typeof content === 'string'
    ? Math.ceil(content.length / 4)
    : content.reduce((sum, part) => sum + tokensOfPart(part), 0)
}

function tokensOfPart(part: Part): number {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return Math.ceil(part.text.length / 4)
    case 'tool-call':
      return Math.ceil((part.name.length + JSON.stringify(part.args).length) / 4)
    case 'tool-result':
      return typeof part.content === 'string'
        ? Math.ceil(part.content.length / 4)
        : part.content.reduce((sum, inner) => sum + tokensOfPart(inner), 0)
    case 'custom':
      return Math.ceil(JSON.stringify(part.providerMetadata ?? {}).length / 4)
    default:
      return 1000
  }
}
