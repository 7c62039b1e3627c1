import type { Message, ModelRequest, Part } from '@allium/core'
import { fieldsOf, wrongReceiver } from './received.ts'

/** A scripted model, the result of `runLayer`, or a list of requests. */
export type RequestSource = { readonly requests: readonly ModelRequest[] } | readonly ModelRequest[]

/** Returns the requests of a source. @throws TypeError for a source without requests */
export function requestsOf(source: RequestSource): readonly ModelRequest[] {
  const list = Array.isArray(source) ? source : fieldsOf(source).requests
  if (Array.isArray(list) && list.every((item) => Array.isArray(fieldsOf(item).messages))) return list
  throw wrongReceiver('a scripted model, or what runLayer gave', source)
}

/**
 * Returns every text that reached the model, one list per request: system messages, questions, answers, tool arguments as
 * JSON, tool results. For node:test and others; vitest has `toHaveSent`.
 *
 * @throws TypeError for a source without requests
 */
export function sentTexts(source: RequestSource): string[][] {
  return requestsOf(source).map(({ messages }) => messages.flatMap(textsOf))
}

function textsOf({ content }: Message): string[] {
  return typeof content === 'string' ? [content] : content.flatMap(partTexts)
}

function partTexts(part: Part): string[] {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return [part.text]
    case 'tool-call':
      return [JSON.stringify(part.args)]
    case 'tool-result':
      return typeof part.content === 'string' ? [part.content] : part.content.flatMap(partTexts)
    case 'custom':
      return []
    default:
      return part.data instanceof Uint8Array ? [] : [String(part.data)]
  }
}
