import type { FilePart, ImagePart, Input, Message, TextPart } from '@allium/core'
import { fail } from '../http/problem.ts'

/**
 * What a client says: a text, or parts of a user message. Files come as base64; a URL of a client is not fetched for it.
 *
 * @throws AlliumError `request.invalid`
 */
export function inputOf(value: unknown): Input {
  const content = contentOf(value, 'input')
  return typeof content === 'string' ? content : { role: 'user', content }
}

/** The same as the content of a message. @throws AlliumError `request.invalid` */
export function contentOf(value: unknown, field: string): Message['content'] {
  if (typeof value === 'string' && value !== '') return value
  if (Array.isArray(value) && value.length > 0) return value.map(partOf)
  throw fail('request.invalid', `The field \`${field}\` is a text, or a list of parts. ${form}`)
}

const form = 'A part is { type: "text", text } or { type: "image" | "file", data, mediaType }, with base64 as data.'

function partOf(value: unknown, at: number): TextPart | ImagePart | FilePart {
  const { type, text, data, mediaType, filename, ...more } = (value ?? {}) as Record<string, unknown>
  if (Object.keys(more).length === 0) {
    if (type === 'text' && typeof text === 'string') return { type, text }
    if (type === 'image' && isFile(data, mediaType))
      return { type, data: data as string, mediaType: mediaType as string }
    if (type === 'file' && isFile(data, mediaType) && (filename === undefined || typeof filename === 'string'))
      return { type, data: data as string, mediaType: mediaType as string, ...(filename !== undefined && { filename }) }
  }
  throw fail('request.invalid', `The part ${at} of what was said is none. ${form}`)
}

function isFile(data: unknown, mediaType: unknown): boolean {
  return isBase64(data) && typeof mediaType === 'string' && /^[\w.+-]+\/[\w.+*-]+$/.test(mediaType)
}

/** Not by one pattern over all of it: an image has a megabyte. */
export function isBase64(data: unknown): data is string {
  return typeof data === 'string' && data !== '' && !/[^A-Za-z0-9+/=]/.test(data)
}
