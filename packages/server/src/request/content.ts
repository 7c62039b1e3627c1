import type { FilePart, ImagePart, Message, TextPart } from '@allium/core'
import { list, openObject, textOr } from './containers.ts'
import { mapped, oneOf, type Schema, text } from './schema.ts'
import { violation } from './value-location.ts'

/** A part of a client's message. */
export type ContentPart = TextPart | ImagePart | FilePart

/** Most parts of one message, and most messages of one request. */
export const maxParts = 1000
export const maxMessages = 10_000

/** A text of a message, as other protocols write it. */
export const textPart = openObject({ type: oneOf('text'), text: text() })

/** Bytes as base64. Not matched by a single pattern, because an image has megabytes. */
export const base64: Schema<string> = text({
  min: 1,
  accepts: isBase64,
  expected: 'base64: URLs are not fetched',
  json: { contentEncoding: 'base64' },
})

export const mediaType: Schema<string> = text({
  max: 255,
  pattern: /^[\w.+-]+\/[\w.+*-]+$/,
  expected: 'a media type such as image/png',
})

export const filename: Schema<string> = text({ max: 1000 })

/** A file as a base64 data URL: its media type and its data. */
export const dataUrl: Schema<{ mediaType: string; data: string }> = mapped(
  text({ min: 1, expected: 'a data URL in base64: other URLs are not fetched', json: { pattern: '^data:' } }),
  (url, location) => {
    const [, type = ''] = /^data:([^,;]{1,255})(?:;[^,;]{0,100})*;base64,/.exec(url.slice(0, 500)) ?? []
    const data = url.slice(url.indexOf(',') + 1)
    if (type !== '' && isBase64(data)) return { mediaType: mediaType.parse(type, location), data }
    throw violation(location, 'a data URL in base64: other URLs are not fetched', url)
  },
)

/** Returns a client's file as a message part. All protocols use this function. */
export function filePart(file: {
  mediaType: string
  data: string
  filename?: string | undefined
}): ImagePart | FilePart {
  const { mediaType: fileType, data, filename: fileName } = file
  if (fileType.startsWith('image/')) return { type: 'image', data, mediaType: fileType }
  return { type: 'file', data, mediaType: fileType, ...(fileName !== undefined && { filename: fileName }) }
}

/** The content of a message: a text, or parts in the format of a protocol. */
export function content(part: Schema<ContentPart>): Schema<Message['content']> {
  return mapped(textOr(text({ min: 1 }), list(part, { min: 1, max: maxParts })), (value) => value as Message['content'])
}

function isBase64(data: string): boolean {
  return data !== '' && !/[^A-Za-z0-9+/=]/.test(data)
}
