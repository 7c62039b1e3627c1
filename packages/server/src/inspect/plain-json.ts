import { hideSecrets, isSecretName } from '@allium/shared/detect'

/** Most characters of one text. */
const maxText = 100_000
/** A credential is longer, so shorter texts are not searched. */
const minSecret = 8

/**
 * Serializes any value to JSON for a person to read: credentials and fields with names of credentials are hidden, bytes are counted, and
 * values that JSON does not have become texts.
 */
export function plainJson(value: unknown): string {
  try {
    return JSON.stringify(value, replace) ?? 'null'
  } catch {
    return '"[unreadable]"'
  }
}

function replace(key: string, value: unknown): unknown {
  if (typeof value === 'string') return readable(key, value)
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'function') return '[function]'
  if (typeof value !== 'object' || value === null) return value
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if (isFile(value)) return { ...value, data: `[${byteCount(value.data)} bytes]` }
  if (value instanceof Error) return { name: value.name, message: value.message }
  if (value instanceof Map) return [...value]
  if (value instanceof Set) return [...value]
  return key !== '' && isSecretName(key) ? '[hidden]' : value
}

/** Whether a value is an image or a file with its bytes as base64 or as a data URL. */
function isFile(value: object): value is { data: string; mediaType: string } {
  const { data, mediaType } = value as { data?: unknown; mediaType?: unknown }
  return typeof mediaType === 'string' && typeof data === 'string' && !/^(?!data:)(?:[a-z][a-z0-9+.-]*:|\[)/i.test(data)
}

/** Returns the number of bytes that base64 or a data URL encodes. */
export function byteCount(data: string): number {
  const start = data.startsWith('data:') ? data.indexOf(',') + 1 : 0
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0
  return Math.max(0, Math.floor(((data.length - start) * 3) / 4) - padding)
}

function readable(key: string, text: string): string {
  if (key !== '' && isSecretName(key)) return '[hidden]'
  const shown = text.length > maxText ? `${text.slice(0, maxText)}… [${text.length} characters]` : text
  return shown.length < minSecret ? shown : hideSecrets(shown, '[hidden]')
}
