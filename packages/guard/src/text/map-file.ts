import type { Part } from '@allium/core'
import { base64Of, bytesOf } from '@allium/core/internal'

type FilePart = Extract<Part, { type: 'file' | 'image' }>
type MapText = (text: string) => string | Promise<string>

/**
 * Maps the name of a file, and the content of a file or image if that is text in the message. If its address changes, the part becomes a
 * text, because the new address leads nowhere.
 */
export async function mapFile(part: FilePart, map: MapText): Promise<Part> {
  const address = part.data instanceof Uint8Array ? '' : String(part.data)
  if (isAddress(address)) {
    const plain = decoded(address)
    const mapped = await map(plain)
    if (mapped !== plain) return { type: 'text', text: `[${part.mediaType}: ${mapped}]` }
  }
  const given = part.type === 'file' ? part.filename : undefined
  const filename = given === undefined ? undefined : await map(given)
  const data = isText(typeOf(part)) ? await mapData(part.data, map) : part.data
  if (filename === given && data === part.data) return part
  const { providerMetadata: _, ...rest } = part
  return { ...rest, data, ...(filename !== undefined && { filename }) }
}

const isText = (mediaType: string): boolean =>
  /^(?:text\/|image\/svg|application\/(?:[\w.-]{1,60}\+)?(?:json|xml|yaml|x-ndjson|csv|javascript|sql)\b)/i.test(
    mediaType,
  )

/** The type that a data URL states counts, whatever the part says. One that states none has text. */
function typeOf({ data, mediaType }: FilePart): string {
  if (data instanceof Uint8Array) return mediaType
  const [, stated = mediaType] = /^data:([^,;]{0,100})[,;]/i.exec(String(data).slice(0, 200)) ?? []
  return stated || 'text/plain'
}

const isDataUrl = (source: string): boolean => /^data:/i.test(source)

/** Whether it is a URL of a file elsewhere, such as `https:` or `gs:`. Base64 has no colon. */
const isAddress = (source: string): boolean => /^[a-z][a-z0-9+.-]*:/i.test(source) && !isDataUrl(source)

function decoded(url: string): string {
  try {
    return decodeURIComponent(url)
  } catch {
    return url
  }
}

async function mapData(data: FilePart['data'], map: MapText): Promise<FilePart['data']> {
  if (data instanceof Uint8Array) {
    const text = new TextDecoder().decode(data)
    const mapped = await map(text)
    return mapped === text ? data : new TextEncoder().encode(mapped)
  }
  const source = String(data)
  if (isAddress(source)) return data
  const [prefix = '', body] = isDataUrl(source) ? split(source) : ['', source]
  const text = isDataUrl(prefix) && !/;base64,$/i.test(prefix) ? decoded(body) : decodeText(body)
  if (text === undefined) return data
  const mapped = await map(text)
  if (mapped === text) return data
  return /;base64,$|^$/i.test(prefix)
    ? prefix + base64Of(new TextEncoder().encode(mapped))
    : prefix + encodeURIComponent(mapped)
}

function split(url: string): [head: string, body: string] {
  const at = url.indexOf(',') + 1
  return [url.slice(0, at), url.slice(at)]
}

/** Returns undefined for invalid base64. */
function decodeText(base64: string): string | undefined {
  try {
    return new TextDecoder().decode(bytesOf(base64))
  } catch {
    return undefined
  }
}
