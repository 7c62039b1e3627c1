import type { Part } from '../messages/message.ts'
import type { ModelRequest } from './model.ts'

/** Characters per token: about four in English, fewer in most other languages and in code. */
const charsPerToken = 4
/** The estimate for an image or a file. Providers count between a few hundred and a few thousand. */
const tokensPerFile = 1_000
/** The overhead of a message. */
const charsPerMessage = 16

/**
 * Estimates the input tokens of a model call, including tools: one token per 4 characters, 1,000 per image or file. The core uses
 * it if the provider sends no count.
 */
export function estimateInputTokens({ messages, tools }: Pick<ModelRequest, 'messages' | 'tools'>): number {
  let chars = 0
  for (const { content } of messages) chars += charsPerMessage + contentChars(content)
  for (const { name, description, jsonSchema } of tools)
    chars += name.length + description.length + JSON.stringify(jsonSchema).length
  return tokensOf(chars)
}

/** Estimates the tokens of output. */
export function estimateTokens({ chars, files }: Size): number {
  return tokensOf(chars) + files * tokensPerFile
}

/** The size of output: the characters of text, reasoning and arguments, and the number of files. */
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
