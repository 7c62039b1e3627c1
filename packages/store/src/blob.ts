import type { FilePart, ImagePart, Part } from '@allium/core'

/** The size from which bytes and base64 are stored as blobs. */
const least = 4096

/** Whether a store keeps a value apart from the JSON around it: bytes, base64 or a data URL of 4 kB or more. */
export function isBlob(value: string | object): value is Uint8Array | string | URL {
  if (value instanceof Uint8Array) return value.length >= least
  const text = typeof value === 'string' ? value : value instanceof URL ? value.href : ''
  // A text that only looks like base64 is also restored exactly.
  return text.length >= least && /^(?:data:|[\w+/-]{64})/.test(text)
}

/** The data of an image or a file in a stored message that has not been read. */
export class StoredFile extends URL {
  constructor(readonly read: () => Promise<FilePart['data']>) {
    super('stored:file')
  }
}

/** Returns the images and files of a message's content, also those in results of tools. */
export function filesIn(content: unknown): (ImagePart | FilePart)[] {
  if (!Array.isArray(content)) return []
  return (content as Part[]).flatMap((part) => {
    if (part.type === 'tool-result') return filesIn(part.content)
    return part.type === 'image' || part.type === 'file' ? [part] : []
  })
}
