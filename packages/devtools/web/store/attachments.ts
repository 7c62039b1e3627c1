import type { FileView } from '@allium/server/inspect'
import { maxBodyBytes } from '../../src/messages.ts'

/** A file that the user attached to a message. */
export interface Attachment {
  type: 'image' | 'file'
  mediaType: string
  /** The bytes as base64. */
  data: string
  name: string
  bytes: number
}

/** Most files of one message. */
export const maxFiles = 20
/** Most characters of the text and the files, which a request has with a few others. */
export const maxContent = maxBodyBytes - 10_000

/** Returns the input of a run: the text, and the files as the server accepts them. @throws Error if it is too large */
export function inputOf(text: string, files: readonly Attachment[]): unknown {
  if (files.length === 0) return text
  const parts = files.map(({ type, mediaType, data, name }) =>
    type === 'image' ? { type, mediaType, data } : { type, mediaType, data, filename: name },
  )
  const input = [...(text.trim() === '' ? [] : [{ type: 'text', text }]), ...parts]
  if (JSON.stringify(input).length > maxContent) throw new Error(`A message has at most ${size(maxBodyBytes)}.`)
  return input
}

/** Returns the SHA-256 of an attachment, by which the server names it. */
export async function hashOf({ data }: Pick<Attachment, 'data'>): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(data))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Returns a file name for people: without characters that hide or reorder others. */
export function shownName(name: string): string {
  const text = name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd')
  return text.length > 80 ? `${text.slice(0, 60)}…${text.slice(-18)}` : text
}

export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** Whether browsers show this type as a picture. Vector graphics are not shown: they can refer to other files. */
export function isPicture({ mediaType }: Pick<FileView, 'mediaType'>): boolean {
  return /^image\/(?:png|jpeg|gif|webp|avif)$/.test(mediaType)
}

export function base64Of(url: string): string {
  return url.slice(url.indexOf(',') + 1)
}
