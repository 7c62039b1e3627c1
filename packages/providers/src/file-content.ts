import type { FilePart, ImagePart } from '@allium/core'
import { base64Of, bytesOf } from '@allium/core/internal'
import type { UrlPatterns } from './ai-sdk-model.ts'

/** A file in the form that providers take: a URL that they fetch, or bytes (raw or base64). */
export type FileContent = { mediaType: string; filename?: string } & (
  | { url: URL }
  | { data: Uint8Array | string; base64(): string }
)

/** Reads the three forms of a part's `data`. A `data:` URL becomes bytes; text that begins like a URL is parsed as one. */
export function fileContent(part: ImagePart | FilePart): FileContent {
  const { data, mediaType } = part
  const filename = part.type === 'file' && part.filename !== undefined ? { filename: part.filename } : {}
  const url = toUrl(data)
  if (url === undefined) return { ...bytes(data as Uint8Array | string), mediaType, ...filename }
  if (url.protocol !== 'data:') return { url, mediaType, ...filename }
  return { ...bytes(inlineData(url)), mediaType, ...filename }
}

/** Returns the text of a text file with its name; undefined for other files, and for bytes that are not UTF-8. */
export function fileText(file: FileContent): string | undefined {
  if ('url' in file || !/^text\/|[/+](x-)?(json|ndjson|xml|yaml|csv|javascript|sql)\b/i.test(file.mediaType))
    return undefined
  try {
    const data = typeof file.data === 'string' ? bytesOf(file.data) : file.data
    const text = new TextDecoder('utf-8', { fatal: true }).decode(data)
    return file.filename === undefined ? text : `${file.filename}\n${text}`
  } catch {
    return undefined
  }
}

/** Returns the text in place of a file that a result cannot hold. An error would make the session unusable. */
export function placeholder(file: FileContent): { type: 'text'; text: string } {
  return { type: 'text', text: `[${file.mediaType}${'url' in file ? `: ${file.url.href}` : ''}]` }
}

/** Whether a model that declares `patterns` fetches this URL itself. */
export function acceptsUrl(patterns: UrlPatterns | undefined, url: URL, mediaType: string): boolean {
  if (patterns === undefined) return true
  const address = url.href.toLowerCase()
  return Object.entries(patterns).some(
    ([type, allowed]) =>
      coversType(type.toLowerCase(), mediaType.toLowerCase()) && allowed.some((p) => p.test(address)),
  )
}

function toUrl(data: Uint8Array | URL | string): URL | undefined {
  if (data instanceof URL) return data
  return typeof data === 'string' && /^[a-z][a-z0-9+.-]*:/i.test(data) ? new URL(data) : undefined
}

function inlineData({ pathname, search }: URL): Uint8Array | string {
  const text = pathname + search
  const comma = text.indexOf(',')
  const payload = decodeURIComponent(text.slice(comma + 1))
  return /;base64$/i.test(text.slice(0, comma)) ? payload : new TextEncoder().encode(payload)
}

function bytes(data: Uint8Array | string) {
  return { data, base64: () => (typeof data === 'string' ? data : base64Of(data)) }
}

function coversType(pattern: string, mediaType: string): boolean {
  if (pattern === '*' || pattern === '*/*') return true
  return pattern.endsWith('/*') ? mediaType.startsWith(pattern.slice(0, -1)) : pattern === mediaType
}
