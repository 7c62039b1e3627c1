import type { Part } from '../messages/message.ts'
import type { ModelRequest } from './model.ts'

/** Characters of a token: about four in English, fewer in most other languages and in code. */
const charsPerToken = 4
/** What an image or a file is taken for; providers count between a few hundred and a few thousand. */
const tokensPerFile = 1_000
/** The frame of a message. */
const charsPerMessage = 16

/**
 * About how many tokens a model call sends, tools included: one for 4 characters, 1,000 for an image or a file. What the
 * core takes where a provider tells none.
 */
export function estimateInputTokens({ messages, tools }: Pick<ModelRequest, 'messages' | 'tools'>): number {
  let chars = 0
  for (const { content } of messages) chars += charsPerMessage + contentChars(content)
  for (const { name, description, jsonSchema } of tools)
    chars += name.length + description.length + JSON.stringify(jsonSchema).length
  return tokensOf(chars)
}

/** About how many tokens something said has. */
export function estimateTokens({ chars, files }: Size): number {
  return tokensOf(chars) + files * tokensPerFile
}

/** What was said: the characters of texts, thoughts and arguments, and the files. */
export interface Size {
  chars: number
  files: number
}

function tokensOf(chars: number): number {
  return Math.ceil(chars / charsPerToken)
}

function contentChars(content: string | readonly Part[]): number {
  if (typeof content === 'string') return content.length
  let chars = 0
  for (const part of content) chars += partChars(part)
  return chars
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
