import type { FilePart, ImagePart } from '@allium/core'
import type { StoredFile } from '@allium/store'
import type { HistoryEntry } from '../request/read-history.ts'

export type File = ImagePart | FilePart

/**
 * Returns the files of a history that are not URLs elsewhere, by their names. A name has the place of the file, so that the file is found
 * without the others, and the version of its run, because a later run may put another message there.
 *
 * @param version the number of turns after the run in progress
 */
export function collectFiles(entries: readonly HistoryEntry[], version: number): Map<string, File> {
  const files = new Map<string, File>()
  for (const entry of entries)
    for (const [index, part] of [...entry.message.content].entries())
      if (typeof part === 'object' && (part.type === 'image' || part.type === 'file') && isEmbedded(part))
        files.set(`${entry.version ?? version}-${entry.index}-${index}`, part)
  return files
}

/** Returns the index of the message with a file. */
export function messageIndexOf(name: string): number {
  return Number(/^\d+-(\d{1,9})-\d+$/.exec(name)?.[1] ?? -1)
}

/** Reads the data of a file, if that was not done with its message. */
export async function withData<T extends File>(file: T): Promise<T> {
  return isStored(file.data) ? { ...file, data: await file.data.read() } : file
}

function isStored(data: File['data']): data is StoredFile {
  return typeof (data as StoredFile).read === 'function'
}

/** Serves a file as a download, so that an uploaded page never runs as a page of this server. */
export async function download(file: File): Promise<Response> {
  const { data, mediaType } = await withData(file)
  const headers = {
    'content-type': /^[\w.+-]+\/[\w.+-]+$/.test(mediaType) ? mediaType : 'application/octet-stream',
    'content-disposition': 'attachment',
    'x-content-type-options': 'nosniff',
    'cache-control': 'private',
  }
  return new Response(data instanceof Uint8Array ? new Uint8Array(data) : bytesOf(String(data)), { headers })
}

/** Whether the history has the bytes of a file, not only its URL. */
export function isEmbedded({ data }: File): boolean {
  return data instanceof Uint8Array || isStored(data) || !/^(?!data:)[a-z][a-z0-9+.-]*:/i.test(String(data))
}

/** Returns the SHA-256 of a file's data as it is in the history. */
export async function contentHash({ data }: File): Promise<string> {
  const bytes = data instanceof Uint8Array ? new Uint8Array(data) : new TextEncoder().encode(String(data))
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Decodes base64, also with URL-safe letters, or a data URL. Any other text is served unchanged. */
function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const [, head = ';base64', data] = /^data:([^,]*),(.*)$/is.exec(text) ?? []
  try {
    let binary = data === undefined ? text : data.replace(/%[0-9a-f]{2}|[^\0-\x7f]/giu, octets)
    if (/; *base64 *$/i.test(head)) binary = atob(binary.replaceAll('-', '+').replaceAll('_', '/'))
    const bytes = new Uint8Array(binary.length)
    for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i)
    return bytes
  } catch {
    return new TextEncoder().encode(text)
  }
}

/** Returns an escaped byte, or the bytes of a character in UTF-8, as a binary string. */
function octets(part: string): string {
  if (part.startsWith('%')) return String.fromCharCode(Number.parseInt(part.slice(1), 16))
  return String.fromCharCode(...new TextEncoder().encode(part))
}
