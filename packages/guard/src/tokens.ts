import type { Message, Part, RequestView, ToolDef } from '@allium/core'

/** Characters of a token: about four in English, fewer in most other languages and in code. */
const charsPerToken = 4
/** What an image or a file is taken for; providers count between a few hundred and a few thousand. */
const tokensPerFile = 1_000
/** The frame of a message. */
const charsPerMessage = 16

/** About how many tokens a call sends. */
export function inputTokens({ messages, tools }: Pick<RequestView, 'messages' | 'tools'>): number {
  return tokensOf(sum(messages, messageChars) + sum(tools, toolChars))
}

/** About how many tokens a text of so many characters has. */
export function tokensOf(chars: number): number {
  return Math.ceil(chars / charsPerToken)
}

function messageChars({ content }: Readonly<Message>): number {
  return charsPerMessage + contentChars(content)
}

function contentChars(content: string | Part[]): number {
  return typeof content === 'string' ? content.length : sum(content, partChars)
}

function partChars(part: Part): number {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text.length
    case 'tool-call':
      return part.name.length + JSON.stringify(part.args).length
    case 'tool-result':
      return contentChars(part.content)
    case 'custom':
      return JSON.stringify(part.providerMetadata ?? {}).length
    default:
      return tokensPerFile * charsPerToken
  }
}

function toolChars({ name, description, jsonSchema }: ToolDef): number {
  return name.length + description.length + JSON.stringify(jsonSchema).length
}

function sum<T>(items: readonly T[], chars: (item: T) => number): number {
  return items.reduce((total, item) => total + chars(item), 0)
}
